package tune

import (
	"testing"

	"github.com/dpmcmc/dpmcmc/chains"
)

// TestDefaultsAreNearTheBest holds one cell of docs/settings.md: no kernel's settings
// that the search finds are worth more than 1.5 times the defaults of package chains.
// All of it follows from one seed, so there are no false alarms. The mutant, defaults
// whose step is 8 times too short, must be found out.
func TestDefaultsAreNearTheBest(t *testing.T) {
	c := logisticConfig(t, 1000, 2)
	c.Kernels, c.Work, c.SearchOnly = []string{"barker", "tunamh", "barker-dynamics", "dpsgld", "sgnht",
		"dphmc"}, 4e7, true
	c.Fixed.Start = "prior-mean"
	stages, err := c.stages(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	gain := func(s *search) float64 {
		t.Helper()
		if err := s.run(t.Context()); err != nil || s.skipped != nil {
			t.Fatal(err, s.skipped)
		}
		return s.best.Score / s.defaults.Score
	}
	for _, s := range c.searches(stages) {
		if g := gain(s); g > 1.5 {
			t.Errorf("%s: %+v is worth %.3g times the defaults, %+v", s.kernel, s.best.Settings, g, s.defaults.Settings)
		}
	}
	for _, s := range c.searches(stages) {
		if s.kernel != "dpsgld" {
			continue
		}
		usual, err := s.choose(chains.Settings{Kernel: s.kernel, Temperature: s.temperature})
		if err != nil {
			t.Fatal(err)
		}
		s.from.Step = usual.Settings.Step / 8
		if g := gain(s); g < 1.5 {
			t.Errorf("settings worth only %.3g times a step that is 8 times too short were found", g)
		}
	}
}

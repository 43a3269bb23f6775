package chains_test

import (
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/models"
)

// anchoredVerdict is the verdict on anchored chains of a simulated table, whose classes may
// be separated by a line and whose bounds may be wide: so many times too wide.
func anchoredVerdict(t *testing.T, spec string, separable bool, wide, epsilon float64) chains.Verdict {
	t.Helper()
	table := builtin(t, spec)
	for i := range table.Records {
		x := table.Row(i)
		if separable {
			table.Y[i] = 0
			if x[1] > 0.2*x[0] {
				table.Y[i] = 1
			}
		}
		for j := 1; j < len(x); j++ {
			x[j] /= wide
		}
	}
	model, err := models.New("logistic", &table.Shape, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return ran(t, table, model, chains.Settings{}, epsilon).Verdict
}

// TestSeparableClassesAreNotUsable: where a line separates the classes the verdict is not
// plainly usable, with the reason and what to do; where the prior fits it is.
func TestSeparableClassesAreNotUsable(t *testing.T) {
	for _, c := range []struct {
		spec      string
		separable bool
		epsilon   float64
		headline  string
	}{
		{"builtin:logistic?n=3000&d=3", false, 1, "Usable: "},
		{"builtin:logistic?n=3000&d=3", true, 1, "Not usable as it stands: the prior holds back"},
		{"builtin:logistic?n=3000&d=3", true, 0.05, "Usable if the prior is believed"},
		{"builtin:logistic?n=60000&d=3", true, 5, "Not usable as it stands: "},
	} {
		if testing.Short() && strings.Contains(c.spec, "60000") {
			continue
		}
		v := anchoredVerdict(t, c.spec, c.separable, 1, c.epsilon)
		if !strings.HasPrefix(v.Headline, c.headline) || v.Usable != strings.HasPrefix(c.headline, "Usable") {
			t.Errorf("%s at ε = %v, separable %v: %+v", c.spec, c.epsilon, c.separable, v)
		}
		if doubted := c.headline != "Usable: "; doubted != (len(v.Reasons) > 0) || doubted != (len(v.Advice) > 0) {
			t.Errorf("%s: reasons %v, advice %v", c.headline, v.Reasons, v.Advice)
		}
	}
}

// TestBoundsThatAreTooWideAreNotUsable: under bounds ten times too wide the prior leaves out
// the coefficients that the records have, and noise hides them. The same records under
// fitting bounds are the control.
func TestBoundsThatAreTooWideAreNotUsable(t *testing.T) {
	const spec = "builtin:logistic?n=3000&d=3"
	v := anchoredVerdict(t, spec, false, 10, 1)
	if v.Usable || !strings.HasPrefix(v.Headline, "Not usable as it stands: noise hides") {
		t.Errorf("bounds ten times too wide: %+v", v)
	}
	if v := anchoredVerdict(t, spec, false, 1, 1); !strings.HasPrefix(v.Headline, "Usable: ") {
		t.Errorf("fitting bounds: %+v", v)
	}
}

// TestVerdictSaysWhatIsKnown: a release that is refused for the size of coefficients says which signs
// are known, and the order of records. A usable one has no doubt to say it beside.
func TestVerdictSaysWhatIsKnown(t *testing.T) {
	const spec = "builtin:logistic?n=3000&d=3"
	v := anchoredVerdict(t, spec, true, 1, 3)
	text := strings.Join(v.Reasons, "\n")
	// The classes are those of 0.2 of the intercept below the first feature.
	if v.Usable || !strings.Contains(text, "Known under priors up to four times as wide: the signs of x1 (+)") ||
		!strings.Contains(text, "; the order in which predictions put records, to a correlation of 0.9") {
		t.Errorf("separable classes: %+v", v)
	}
	if strings.Contains(text, "intercept") {
		t.Errorf("the sign of an intercept depends on units: %s", text)
	}
	if v := anchoredVerdict(t, spec, false, 1, 1); strings.Contains(strings.Join(v.Reasons, "\n"), "Known") {
		t.Errorf("classes that are not separable: %+v", v)
	}
	if v := anchoredVerdict(t, spec, true, 1, 0.1); !strings.Contains(strings.Join(v.Reasons, "\n"), "no sign") {
		t.Errorf("little budget: %+v", v)
	}
}

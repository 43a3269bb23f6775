package chains_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/chains"
)

// FuzzCertificate: no text makes reading a certificate panic, and one that is read says
// what it costs in words, has events that can be read again, and is written as it was.
func FuzzCertificate(f *testing.F) {
	for _, kernel := range []string{"barker", "anchored", "dphmc"} {
		f.Add(certificate(f, kernel))
	}
	f.Add([]byte(`{"settings":{"stepp":1}}`))
	f.Add([]byte(`{"adjacency":"substitute","events":[{"kind":"pure","epsilon":1}],` +
		`"chains":-1,"ledger":{"entries":[-1]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var c, again chains.Certificate
		if json.Unmarshal(text, &c) != nil {
			return
		}
		event, err := c.Event()
		if len(c.Words(true)) == 0 || len(c.Pairs()) == 0 {
			t.Fatal("it says nothing")
		}
		if err != nil {
			return
		}
		if err := json.Unmarshal(c.JSON(), &again); err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if same, err := again.Event(); err != nil || !same.Equal(event) {
			t.Fatalf("%v became %v, %v", event, same, err)
		}
	})
}

// TestCertificatesSayWhatTheyPromise: in plain words, and nothing of it for a run that is
// not private.
func TestCertificatesSayWhatTheyPromise(t *testing.T) {
	promises := []string{
		"ε = 1.5, δ = 1e-06, unconditional, over all 40 steps of 4 chains",
		"the number of records, 90, is public",
		"One person contributes at most 2 rows.",
		"It holds for every step, whether or not the chain has converged.",
		"Costs of several runs on the same people add up.",
	}
	c := chains.Certificate{Epsilon: 1.5, Delta: 1e-6, Guarantee: "unconditional", Adjacency: "substitute", Records: 90,
		RowsPerPerson: 2, Iterations: 40, Chains: 4}
	for _, insecure := range []bool{false, true} {
		c.Insecure = insecure
		words := strings.Join(strings.Fields(c.Words(true)), " ")
		for _, promise := range promises {
			if strings.Contains(words, promise) == insecure {
				t.Errorf("insecure %v, and %q is said: %v\n%s", insecure, promise, !insecure, c.Words(true))
			}
		}
	}
}

// TestCertificatesStateTheLeastEpsilon: that of numerical composition where records are in
// batches, which is clearly below the Rényi one that the budget charged, and the Rényi one
// where no distribution of losses is known, as of bits of drawn moves. Its events give it again.
func TestCertificatesStateTheLeastEpsilon(t *testing.T) {
	for name, c := range map[string]struct {
		settings chains.Settings
		saves    float64 // of ε, at least
	}{
		"allocated": {chains.Settings{Kernel: "dpsgld", Batch: 50, Allocated: true, Start: "prior-mean"}, 0.05},
		"Poisson":   {chains.Settings{Kernel: "sgnht", Batch: 50, Start: "prior-mean"}, 0.05},
		"optimum":   {chains.Settings{Kernel: "dpsgld", Batch: 50, Start: "optimum"}, 0.02},
		"bits":      {chains.Settings{Kernel: "barker", Start: "prior-mean"}, 0},
	} {
		table, m := simulated(t)
		c.settings.Iterations, c.settings.Chains = 20, 1
		if c.saves > 0 {
			c.settings.Step, c.settings.Noise = 1e-4, 1
		}
		session := opened(t, table, m, c.settings, 100)
		certificate, err := session.Certificate(m, 1)
		if err != nil {
			t.Fatal(err)
		}
		event, err := certificate.Event()
		if err != nil {
			t.Fatal(err)
		}
		charged, err := event.Epsilon(certificate.Delta)
		if err != nil {
			t.Fatal(err)
		}
		again, err := event.LeastEpsilon(certificate.Delta)
		if err != nil || again.Epsilon != certificate.Epsilon || again.Theorem != certificate.Theorem {
			t.Errorf("%s: ε = %v by %q, its events have %v by %q (%v)", name, certificate.Epsilon, certificate.Theorem,
				again.Epsilon, again.Theorem, err)
		}
		if saved := 1 - certificate.Epsilon/charged.Epsilon; saved < c.saves || c.saves == 0 && saved != 0 {
			t.Errorf("%s: ε = %v is stated, and %v was charged", name, certificate.Epsilon, charged.Epsilon)
		}
		if numerical := certificate.Order == 0; numerical != (c.saves > 0) {
			t.Errorf("%s: the order is %v", name, certificate.Order)
		}
	}
}

// certificate is one of a run of a kernel, as its file has it.
func certificate(f *testing.F, kernel string) []byte {
	f.Helper()
	table, m := simulated(f)
	result, err := chains.Run(f.Context(), table, m, chains.Settings{Kernel: kernel, Iterations: 20},
		budget(f, 3))
	if err != nil {
		f.Fatal(err)
	}
	c := result.Certificate
	c.Ledger = &chains.CertifiedLedger{File: "people.csv.ledger", ID: "a", Run: "b", Entries: []int64{3}}
	return c.JSON()
}

// Remarks name no factor of the odds that is too small.
func TestRemarksNameTheFactor(t *testing.T) {
	for epsilon, want := range map[float64]string{6: "by a factor of 403.", 700: "by any factor.", 1e6: "by any factor."} {
		if got := strings.Join(chains.Remarks(epsilon, 0, 10), " "); !strings.Contains(got, want) {
			t.Errorf("ε = %v: %q; want %s", epsilon, got, want)
		}
	}
}

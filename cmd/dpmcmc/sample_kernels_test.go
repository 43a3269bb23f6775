package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/runs"
)

// kernelCases says of each kernel what its files call it, what its certificate
// must say is released, and the flags that it needs where the model bounds
// neither a record's gradient nor its part of a move.
var kernelCases = map[string]struct{ algorithm, released, bounded string }{
	"anchored":        {"dp_anchored_score", "nothing: a draw from what the anchor's release says", ""},
	"barker":          {"dp_barker", "one accept/reject bit (exact logistic test; ", ""},
	"penalty":         {"dp_penalty", "one accept/reject bit (penalty test, variance 4; full data)", ""},
	"penalty-ratio":   {"dp_penalty", "one noisy log-likelihood ratio, noise ", "--clip 1"},
	"tunamh":          {"dp_tunamh", "one accept/reject bit (exact minibatches; rate 0.", ""},
	"barker-dynamics": {"dp_barker_dynamics", "3 signs, one for each parameter (full data)", "--clip 1"},
	"barker-dynamics-adjusted": {"dp_barker_dynamics_adjusted",
		"3 signs, one for each parameter, and one accept/reject bit (full data)", "--clip 1"},
	"dpsgld": {"dp_sgld", "one noisy gradient, noise ", "--clip 1"},
	"sgnht":  {"dp_sgnht", "one noisy gradient, noise ", "--clip 1"},
	"dphmc":  {"dp_hmc", "5 noisy gradients, noise ", "--clip 1"},
}

// certified samples and returns the certificate of the run.
func certified(t *testing.T, args ...string) chains.Certificate {
	t.Helper()
	code, out, errw := call(t.Context(), append([]string{"sample", "--json"}, args...)...)
	var v struct{ Certificate chains.Certificate }
	if code != exitOK {
		t.Fatalf("%v: exit code %d: %s", args, code, errw)
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatal(err)
	}
	return v.Certificate
}

func TestEveryKernelIsCertifiedForWhatItReleases(t *testing.T) {
	if len(kernelCases) != len(chains.Names()) {
		t.Fatalf("%d kernels are tested, %d exist", len(kernelCases), len(chains.Names()))
	}
	for name, want := range kernelCases {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			code, out, errw := call(t.Context(), "sample", "--kernel", name, "--data", small, "--iterations", "200",
				"--out", dir)
			if code != exitOK || !strings.Contains(out, "Released per step: "+want.released) {
				t.Fatalf("exit code %d: %s\nthe certificate lacks %q:\n%s", code, errw, want.released, out)
			}
			var c chains.Certificate
			readJSON(t, filepath.Join(dir, runs.CertificateFile), &c)
			if c.Kernel != name || c.Guarantee != "unconditional" || !strings.HasPrefix(c.Released, want.released) ||
				!(c.Settings.Step > 0 || c.Settings.AnchorNoise > 0) {
				t.Errorf("certificate: %+v", c)
			}
			// Every kernel spends what it is given.
			if c.Epsilon > 1 || c.Epsilon < 0.98 {
				t.Errorf("a budget of ε = 1 was spent to %v", c.Epsilon)
			}
			if repriced := reprice(t, filepath.Join(dir, runs.CertificateFile), c.Delta); repriced != c.Epsilon {
				t.Errorf("the certificate's events cost ε = %v, it says %v", repriced, c.Epsilon)
			}
			text, err := os.ReadFile(filepath.Join(dir, "draws_1.csv"))
			if err != nil || !strings.Contains(string(text), "algorithm = "+want.algorithm+"\n") {
				t.Errorf("the draws do not name the algorithm %s: error %v", want.algorithm, err)
			}
		})
	}
}

// TestCertificateCountsEveryRelease counts the events of two chains by hand.
func TestCertificateCountsEveryRelease(t *testing.T) {
	for _, c := range []struct {
		kernel, kind string
		want         int64
	}{
		{"dpsgld", "grid_gaussian", 2 * 100},
		{"dphmc", "grid_gaussian", 2 * (100*5 + 1)}, // and the gradient at each start
		{"dphmc", "acceptance_bit", 2 * 100},
		{"penalty-ratio", "grid_gaussian", 2 * 100},
	} {
		var got int64
		for _, raw := range certified(t, "--kernel", c.kernel, "--data", small, "--iterations", "100", "--chains",
			"2").Events {
			var event struct {
				Kind  string
				Count int64
			}
			if err := json.Unmarshal(raw, &event); err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(event.Kind, c.kind) {
				got += event.Count
			}
		}
		if got != c.want {
			t.Errorf("%s is certified for %d events of kind %s, it makes %d", c.kernel, got, c.kind, c.want)
		}
	}
}

// TestChoicesDoNotReadRecords runs on two tables with the same public facts:
// whatever a kernel chooses for them must be the same.
func TestChoicesDoNotReadRecords(t *testing.T) {
	for name := range kernelCases {
		args := []string{"--kernel", name, "--iterations", "200"}
		if name == "penalty" {
			args = append(args, "--proposal", "truncated:4") // whose prices are quick
		}
		first := certified(t, append(args, "--data", small+"&seed=1")...)
		second := certified(t, append(args, "--data", small+"&seed=2")...)
		first.Start.Value, second.Start.Value = nil, nil // released, and charged
		first.Widening, second.Widening = 0, 0           // follows from it
		a, b := string(first.JSON()), string(second.JSON())
		if a != b {
			t.Errorf("%s: the certificates of two tables with the same public facts differ:\n%s\n%s", name, a, b)
		}
	}
}

func TestEveryKernelSamplesOtherModels(t *testing.T) {
	for name, c := range kernelCases {
		for _, data := range []string{"builtin:mixture?n=1000", "builtin:linear?n=1000&d=2"} {
			args := append([]string{"--kernel", name, "--data", data, "--iterations", "50"}, strings.Fields(c.bounded)...)
			if cert := certified(t, args...); cert.Epsilon > 1 || cert.Guarantee != "unconditional" {
				t.Errorf("%v: %+v", args, cert)
			}
			if c.bounded == "" {
				continue
			}
			code, _, errw := call(t.Context(), "sample", "--kernel", name, "--data", data, "--iterations", "50")
			if code != exitUsage || !strings.Contains(errw, "--clip") {
				t.Errorf("%s on %s without --clip: exit code %d, %s", name, data, code, errw)
			}
		}
	}
}

func TestKernelFlags(t *testing.T) {
	for _, args := range []string{
		"--kernel barker-dynamics --step 0.001",
		"--kernel dpsgld --batch 200",
		"--kernel dpsgld --rate 0.2 --adjacency add_remove",
		"--kernel dpsgld --noise 400 --step 1e-7 --temperature 0.5",
		"--kernel sgnht --fixed-batch --batch 200 --friction 100",
		"--kernel sgnht --loss beta --beta 1.5",
		"--kernel dphmc --leapfrog 3 --max-move 0.001 --step 0.0005 --batch 500 --chains 2",
		"--kernel dphmc --clip 0.5",
		"--kernel penalty --variance 1 --proposal truncated:4 --batch 500",
		"--kernel penalty --proposal one-component --step 0.001",
		"--kernel penalty-ratio --proposal one-component --noise 300",
		"--kernel tunamh --proposal one-component",
		"--kernel tunamh --rate 0.3",
		"--kernel tunamh --proposal truncated:4",
		"--kernel penalty --proposal guided",
		"--kernel penalty-ratio --proposal guided",
		"--kernel dpsgld --schedule polynomial:0.6 --as-published",
		"--kernel dphmc --acceptance penalty --ratio-noise 400",
	} {
		if c := certified(t, append(strings.Fields(args), "--data", small, "--iterations", "50")...); c.Epsilon > 1 {
			t.Errorf("%s: ε = %v", args, c.Epsilon)
		}
	}
}

// TestFewIterationsWhereNoiseIsScarce: a small budget takes more noise than the
// curator draws; by default a chain is then shorter, and never refused.
func TestFewIterationsWhereNoiseIsScarce(t *testing.T) {
	for _, name := range []string{"dpsgld", "sgnht", "dphmc", "penalty-ratio"} {
		for _, epsilon := range []string{"0.1", "0.3"} {
			c := certified(t, "--kernel", name, "--data", small, "--epsilon", epsilon)
			k, err := chains.Describe(name)
			if err != nil || c.Iterations >= k.Iterations || c.Settings.Noise > 512 || c.Settings.Noise < 0.6*512 {
				t.Errorf("%s at ε = %s: %d iterations with noise %v", name, epsilon, c.Iterations, c.Settings.Noise)
			}
		}
	}
}

// TestLangevinStepLeavesRoom checks the default step against the noise, with s
// the noise of a gradient whose clip is the certificate of a logistic model: h·s²/4
// is the privacy noise's share of the Langevin noise.
func TestLangevinStepLeavesRoom(t *testing.T) {
	c := certified(t, "--kernel", "dpsgld", "--data", small, "--iterations", "200")
	s := c.Settings.Noise * 2 * c.Temperature * c.Radius
	if share := c.Settings.Step * s * s / 4; math.Abs(share-0.9) > 1e-6 {
		t.Errorf("privacy noise makes up %v of the Langevin noise, want 0.9", share)
	}
	// A thermostat of friction 1/h moves as far with h as Langevin's with 2h².
	n := certified(t, "--kernel", "sgnht", "--data", small, "--iterations", "200")
	if h := 2 * n.Settings.Step * n.Settings.Step; math.Abs(h/c.Settings.Step-1) > 1e-9 ||
		math.Abs(n.Settings.Friction*n.Settings.Step-1) > 1e-9 {
		t.Errorf("thermostat step %v and friction %v beside Langevin step %v", n.Settings.Step, n.Settings.Friction,
			c.Settings.Step)
	}
}

func TestKernelRefusals(t *testing.T) {
	for _, c := range []struct {
		code       int
		want, args string
	}{
		{exitUsage, "--noise has no meaning for --kernel barker", "--kernel barker --noise 3"},
		{exitUsage, "--variance has no meaning for --kernel dphmc", "--kernel dphmc --variance 1"},
		{exitUsage, "--batch has no meaning for --kernel barker-dynamics", "--kernel barker-dynamics --batch 100"},
		{exitUsage, "--full has no meaning for --kernel tunamh", "--kernel tunamh --full"},
		{exitUsage, "--test has no meaning for --kernel penalty", "--kernel penalty --test logistic"},
		{exitUsage, "--noise is -1", "--kernel dpsgld --noise -1"},
		{exitUsage, "--noise is NaN", "--kernel dpsgld --noise NaN"},
		{exitUsage, "--step is 0", "--kernel dpsgld --step 0"},
		{exitUsage, "--friction is -2", "--kernel sgnht --friction -2"},
		{exitUsage, "--max-move is 0", "--kernel dphmc --max-move 0"},
		{exitUsage, "guided", "--kernel barker --proposal guided"},
		{exitUsage, "--as-published has no meaning for --kernel sgnht", "--kernel sgnht --as-published"},
		{exitUsage, "--schedule is \"sometimes\"", "--kernel dpsgld --schedule sometimes"},
		{exitUsage, "--acceptance is \"luck\"", "--kernel dphmc --acceptance luck"},
		{exitUsage, "--max-move is for --acceptance barker", "--kernel dphmc --acceptance penalty --max-move 1"},
		{exitUsage, "--ratio-noise is for --acceptance penalty", "--kernel dphmc --ratio-noise 100"},
		{exitRefused, "no --step fits the budget", "--kernel barker --iterations 1000000000000 --epsilon 1e-6"},
		{exitUsage, "--leapfrog is 0", "--kernel dphmc --leapfrog 0"},
		{exitUsage, "variance", "--kernel penalty --variance 100"},
		{exitUsage, "Langevin noise", "--kernel dpsgld --step 1 --iterations 100"},
		{exitRefused, "no --noise up to 512 fits the budget", "--kernel dpsgld --iterations 1000000"},
		{exitUsage, "--kernel dpsgld needs --clip", "--kernel dpsgld --data builtin:mixture?n=500 --model mean"},
		{exitUsage, "ate", "--kernel tunamh --rate 0.0001 --step 0.1 --iterations 10"},
		{exitRefused, "budget exceeded", "--kernel dpsgld --noise 10 --step 1e-9 --iterations 1000"},
		{exitRefused, "budget exceeded", "--kernel dphmc --noise 10 --iterations 1000"},
		{exitRefused, "budget exceeded", "--kernel barker-dynamics --step 1 --iterations 1000"},
	} {
		args := strings.Fields(c.args)
		if !strings.Contains(c.args, "--data") {
			args = append(args, "--data", small)
		}
		out := filepath.Join(t.TempDir(), "out")
		code, _, errw := call(t.Context(), append([]string{"sample", "--out", out}, args...)...)
		if code != c.code || !strings.Contains(errw, c.want) {
			t.Errorf("%s: exit code %d, want %d; the message must contain %q:\n%s", c.args, code, c.code, c.want, errw)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: a refused run left a folder", c.args)
		}
	}
}

// TestPublishedVariantsAreCertifiedAsSuch: whoever reads the certificate learns what
// is released, and that the published Langevin update misses the posterior.
func TestPublishedVariantsAreCertifiedAsSuch(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--kernel dpsgld --as-published", "SQUARE"},
		{"--kernel dpsgld --schedule polynomial:0.7", `"schedule": "polynomial:0.7"`},
		{"--kernel penalty --proposal guided", "of a guided walk"},
		{"--kernel dphmc --acceptance penalty", "one noisy log-likelihood ratio, noise "},
		{"--kernel dphmc --acceptance penalty", `"ratio-noise": `},
	} {
		cert := certified(t, append(strings.Fields(c.args), "--data", small, "--iterations", "100")...)
		if text := string(cert.JSON()); !strings.Contains(text, c.want) {
			t.Errorf("%s: the certificate lacks %s:\n%s", c.args, c.want, text)
		}
		if words := cert.Words(true); (cert.Caveat != "") != strings.Contains(words, "Not the posterior: ") ||
			(cert.Caveat != "") != strings.Contains(c.args, "as-published") {
			t.Errorf("%s: caveat %q in\n%s", c.args, cert.Caveat, words)
		}
		if cert.Epsilon > 1 || cert.Epsilon < 0.98 {
			t.Errorf("%s: ε = %v of 1", c.args, cert.Epsilon)
		}
	}
}

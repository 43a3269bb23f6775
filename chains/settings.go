package chains

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/kernels"
)

// Settings describe chains. Zero stands for a setting that is not given, which
// Choose fills in, except that a Clip of 0 may remain: it stands for the model's
// certificate. All of them are public, and must be chosen without looking at the
// records. The table says what each is (Table); Describe, which a kernel knows.
type Settings struct {
	Kernel      string  // kernel: a name of Names
	Iterations  int64   // iterations: steps of each chain
	Chains      int64   // chains: how many, all of which spend budget
	Temperature float64 // temperature: τ in (0, 1], multiplies the log-likelihood

	Start        string  // start: see DescribeStarts
	StartShare   float64 // start-share: part of ε that a charged start takes alone
	StartEpsilon float64 // start-epsilon: or that ε itself

	Aim         string  // aim: what anchored chains sample: auto, score, remainder, perturbed or sums
	AnchorNoise float64 // anchor-noise: of an anchor's score, over its sensitivity
	MomentNoise float64 // moment-noise: of an anchor's second moments, over their sensitivity
	Ridge       float64 // ridge: of the private optimum that is an anchor

	Step     float64 // step: standard deviation of a coordinate's move, or step of the dynamics
	Proposal string  // proposal: see ParseProposal
	// Clip (clip) bounds a record's part of the log-odds; for kernels with gradients
	// the norm of its gradient and its part of the log-odds of a move of length 1. Both
	// count after the temperature: a clip meant for the loss is to be multiplied by it.
	Clip       float64
	Test       string // test: see ParseTest
	Accounting string // accounting: see ParseAccounting

	Batch      int64   // batch: expected number of records in a step
	Rate       float64 // rate: probability that a record is in a step's batch, instead of Batch
	FixedBatch bool    // fixed-batch: exactly Batch records, drawn without replacement
	FullData   bool    // full: every record in every step

	Noise       float64 // noise: of a released gradient or ratio, over twice its clip
	Variance    float64 // variance: of the penalty test's noise in the log-odds
	Friction    float64 // friction: coupling of a thermostat to its heat bath, in units of 1/step
	Schedule    string  // schedule: how dpsgld's steps shrink
	AsPublished bool    // as-published: dpsgld's published update, which targets the SQUARE of the posterior

	Leapfrog   int64   // leapfrog: steps of a trajectory
	MaxMove    float64 // max-move: the longest move that may be accepted
	Acceptance string  // acceptance: barker or penalty, the test of a trajectory's end
	RatioNoise float64 // ratio-noise: that of the penalty test's ratios, over twice their clip
}

// Named is a setting's name and value: a float64, int64, bool or string.
type Named struct {
	Name  string
	Value any
}

// Given lists the settings that are not zero, in the table's order.
func (s Settings) Given() []Named {
	var out []Named
	for _, v := range table {
		if v.Given(s) {
			out = append(out, Named{v.Name, v.Value(s)})
		}
	}
	return out
}

// MarshalJSON writes the settings that are given as one object, in the table's order.
func (s Settings) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, v := range s.Given() {
		if i > 0 {
			b.WriteByte(',')
		}
		text, err := json.Marshal(v.Value)
		if err != nil {
			return nil, fmt.Errorf("chains: setting %s: %w", v.Name, err)
		}
		fmt.Fprintf(&b, "%q:%s", v.Name, text)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads such an object. A setting that the table does not have is an
// error.
func (s *Settings) UnmarshalJSON(text []byte) error {
	raw := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	for name, value := range raw {
		v, known := Lookup(name)
		if !known {
			return fmt.Errorf("chains: there is no setting %q", name)
		}
		if err := json.Unmarshal(value, v.at(s)); err != nil {
			return fmt.Errorf("chains: setting %s: %w", name, err)
		}
	}
	return nil
}

// check reports settings that make no sense, or none for the kernel.
func (s Settings) check(kernels []string) error {
	if !slices.Contains(kernels, s.Kernel) {
		return bad("kernel", "%s is %q; it must be one of %s", name("kernel"), s.Kernel, strings.Join(kernels, ", "))
	}
	k := families[s.Kernel]
	for _, v := range table {
		if x, number := v.number(s); number && !(x >= 0) || math.IsInf(x, 1) {
			return bad(name(v.Name), "%s is %v; it must be positive, or left out for the default", name(v.Name), x)
		}
		if v.Given(s) && !k.knows(v) {
			return bad(name(v.Name), "%s has no meaning for %s %s; its own are %s", name(v.Name), name("kernel"), s.Kernel,
				names(k.own))
		}
	}
	switch {
	case s.Temperature > 1:
		return bad("temperature", "%s is %v; it must be in (0, 1]", name("temperature"), s.Temperature)
	case s.Rate > 1:
		return bad("rate", "%s is %v; it must be in (0, 1]", name("rate"), s.Rate)
	case count(s.Batch != 0, s.Rate != 0, s.FullData) > 1:
		return bad("batch", "%s, %s and %s exclude one another; give one", name("batch"), name("rate"), name("full"))
	case s.FixedBatch && (s.Rate != 0 || s.FullData):
		return bad("fixed-batch", "%s goes with %s", name("fixed-batch"), name("batch"))
	case s.StartShare != 0 && s.StartEpsilon != 0:
		return bad("start-epsilon", "%s and %s exclude one another; give one", name("start-share"), name("start-epsilon"))
	}
	return nil
}

func count(b ...bool) (n int) {
	for _, v := range b {
		if v {
			n++
		}
	}
	return n
}

// Scheme is how a step's records are chosen, on records with the given facts.
// Errors are of type *SettingError: a batch that is empty or larger than the data.
func (s Settings) Scheme(f curator.Facts) (curator.Batch, error) {
	switch {
	case s.FullData:
		return curator.FullData(), nil
	case s.Rate != 0:
		return curator.Poisson(s.Rate), nil
	case s.Batch < 1 || s.Batch > f.Records:
		return curator.Batch{}, bad("batch", "%s is %d; it must be between 1 and the %d records", name("batch"),
			s.Batch, f.Records)
	case s.FixedBatch:
		return curator.FixedSize(s.Batch), nil
	}
	return curator.Poisson(float64(s.Batch) / float64(f.Records)), nil
}

// ParseTest reads the setting test: logistic, or corrected:C with a Gaussian part
// of variance C.
func ParseTest(text string) (curator.Test, error) {
	kind, arg, has := strings.Cut(text, ":")
	switch {
	case kind == "logistic" && !has:
		return curator.Logistic(), nil
	case kind == "corrected" && has:
		if c, err := strconv.ParseFloat(arg, 64); err == nil {
			return curator.Corrected(c), nil
		}
	}
	return curator.Test{}, bad("test", "%s is %q; it must be logistic or corrected:C, such as corrected:1",
		name("test"), text)
}

// ParseAccounting reads the setting accounting.
func ParseAccounting(text string) (curator.Accounting, error) {
	switch text {
	case "bit":
		return curator.ByBit, nil
	case "published":
		return curator.Published, nil
	case "tightened":
		return curator.PublishedTightened, nil
	}
	return 0, bad("accounting", "%s is %q; it must be bit, published or tightened", name("accounting"), text)
}

// guided is the proposal that only the penalty kernels know: one-component moves
// that keep a coordinate's direction while they are accepted.
const guided = "guided"

// ParseProposal reads the setting proposal, for moves whose coordinates have the
// standard deviation scale: isotropic; one-component; or truncated:K, isotropic
// moves of length at most K·scale. The penalty kernels' guided moves are
// one-component moves in a direction that the kernel chooses.
func ParseProposal(text string, scale float64) (kernels.Proposal, error) {
	kind, arg, has := strings.Cut(text, ":")
	switch {
	case kind == "isotropic" && !has:
		return kernels.Isotropic(scale), nil
	case kind == "one-component" && !has:
		return kernels.OneComponent(scale), nil
	case kind == "truncated" && has:
		if k, err := strconv.ParseFloat(arg, 64); err == nil {
			return kernels.Truncated(scale, k*scale), nil
		}
	}
	return kernels.Proposal{}, bad("proposal",
		"%s is %q; it must be isotropic, one-component or truncated:K, such as truncated:5 "+
			"(the penalty kernels also know guided)", name("proposal"), text)
}

// power reads the setting schedule: the power by which steps shrink, 0 for
// constant ones.
func (s Settings) power() (float64, error) {
	kind, arg, has := strings.Cut(cmp.Or(s.Schedule, "constant"), ":")
	switch {
	case kind == "constant" && !has:
		return 0, nil
	case kind == "polynomial" && !has:
		return defaultPower, nil
	case kind == "polynomial":
		if p, err := strconv.ParseFloat(arg, 64); err == nil && p > 0 && p <= 1 {
			return p, nil
		}
	}
	return 0, bad("schedule", "%s is %q; it must be constant, polynomial, or polynomial:P with a power in (0, 1], such "+
		"as polynomial:0.6", name("schedule"), s.Schedule)
}

// defaultPower is just steep enough for weighted averages to converge (Teh et
// al. 2016).
const defaultPower = 0.51

// penaltyAccepts reads the setting acceptance.
func (s Settings) penaltyAccepts() (bool, error) {
	switch s.Acceptance {
	case "", "barker":
		return false, nil
	case "penalty":
		return true, nil
	}
	return false, bad("acceptance", "%s is %q; it must be barker or penalty", name("acceptance"), s.Acceptance)
}

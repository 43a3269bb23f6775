package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/barker"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/internal/forecasts"
	"github.com/dpmcmc/dpmcmc/internal/typeset"
	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// planned is the object of plan --json.
type planned struct {
	Solve                      string
	Value, Epsilon, Delta      float64
	Adjacency, Method, Theorem string
	Event                      accountant.Event
	Alternatives               []struct {
		Iterations int64
		Epsilon    map[string]*float64
	}
	WorstCase *struct {
		Dimension                     int
		Order, Averaged, Worst, Ratio float64
	} `json:"worst_case"`
}

func plan(t *testing.T, flags string) planned {
	t.Helper()
	code, out, errw := feed("", append([]string{"plan", "--json"}, strings.Fields(flags)...)...)
	if code != exitOK {
		t.Fatalf("plan %s: exit %d: %s", flags, code, errw)
	}
	var p planned
	if err := json.Unmarshal([]byte(out), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPlanEveryParameterOfEveryKernel: each plan is within the budget and spends
// it, and its value, given back, costs what the plan says.
func TestPlanEveryParameterOfEveryKernel(t *testing.T) {
	const budget = "--records 100000 --epsilon 1 --delta 1e-6"
	const linear = "--radius 1 --lipschitz 1"
	for _, c := range []struct{ solve, flags string }{
		{"iterations", "--kernel barker --step 0.001 " + linear},
		{"step", "--kernel barker --iterations 20000 " + linear},
		{"step", "--kernel barker --iterations 20000 --proposal truncated:5 --dimension 3 " + linear},
		{"clip", "--kernel barker --iterations 5000 --batch 5000 --fixed-batch"},
		{"clip", "--kernel barker --iterations 5000 --test corrected:1 --rows-per-person 2"},
		{"temperature", "--kernel barker --iterations 20000 --step 0.01 " + linear},
		{"beta", "--kernel barker --iterations 20000 --step 0.003 --radius 1 --model logistic --loss beta"},
		{"iterations", "--kernel barker --clip 0.0001 --batch 1000 --fixed-batch --test corrected:2 --accounting published"},
		{"step", "--kernel penalty --iterations 20000 --variance 1 --proposal truncated:2 " + linear},
		{"clip", "--kernel penalty --iterations 20000 --variance 2"},
		{"noise", "--kernel penalty-ratio --iterations 1000"},
		{"iterations", "--kernel barker-dynamics --step 0.001 " + linear},
		{"step", "--kernel barker-dynamics-adjusted --iterations 1000 --clip 1 --dimension 3"},
		{"iterations", "--kernel tunamh --step 0.001 --rate 0.1 " + linear},
		{"noise", "--kernel sgnht --iterations 1000"},
		{"noise", "--kernel dpsgld --iterations 1000 --batch 1000 --chains 3"},
		{"batch", "--kernel dpsgld --iterations 1000 --noise 2"},
		{"iterations", "--kernel dphmc --leapfrog 10 --noise 300 --max-move 0.001 " + linear},
		{"max-move", "--kernel dphmc --leapfrog 10 --noise 400 --iterations 500 --clip 0.5"},
		{"noise", "--kernel gaussian --iterations 100 --rows-per-person 3"},
		{"iterations", "--kernel gaussian --noise 50 --adjacency add_remove"},
		{"rate", "--kernel poisson-gaussian --iterations 1000 --noise 2"},
		{"batch", "--kernel poisson-gaussian --iterations 1000 --noise 2 --fixed-batch"},
		{"noise", "--kernel poisson-gaussian --iterations 1000 --rate 0.01 --adjacency add_remove"},
	} {
		p := plan(t, budget+" --solve "+c.solve+" "+c.flags)
		if p.Solve != c.solve || p.Epsilon > 1 || p.Delta != 1e-6 {
			t.Errorf("--solve %s %s: %s at ε %v, δ %v", c.solve, c.flags, p.Solve, p.Epsilon, p.Delta)
		}
		least := 0.999999
		if c.solve == "iterations" || c.solve == "batch" {
			least = 0.99 // one step or record more may cost as much
		}
		if p.Epsilon < least {
			t.Errorf("--solve %s %s: ε %v leaves budget", c.solve, c.flags, p.Epsilon)
		}
		g, err := p.Event.Epsilon(1e-6)
		if err != nil || g.Epsilon != p.Epsilon {
			t.Errorf("--solve %s %s: the event costs %v (%v), the plan says %v", c.solve, c.flags, g.Epsilon, err, p.Epsilon)
		}
		back := plan(t, fmt.Sprintf("--records 100000 --delta 1e-6 --solve epsilon --%s %s %s", c.solve,
			strconv.FormatFloat(p.Value, 'f', -1, 64), c.flags))
		if back.Value != p.Epsilon {
			t.Errorf("%s %v %s costs %v, the plan says %v", c.solve, p.Value, c.flags, back.Value, p.Epsilon)
		}
	}
}

// TestPlanIntegersAreExact: one more step, or one more record, is too many.
func TestPlanIntegersAreExact(t *testing.T) {
	for _, c := range []struct{ solve, flags string }{
		{"iterations", "--kernel barker --step 0.001 --radius 1 --lipschitz 1"},
		{"batch", "--kernel poisson-gaussian --iterations 1000 --noise 2"},
	} {
		p := plan(t, "--records 100000 --epsilon 1 --delta 1e-6 --solve "+c.solve+" "+c.flags)
		more := plan(t, fmt.Sprintf("--records 100000 --delta 1e-6 --solve epsilon --%s %d %s", c.solve,
			int64(p.Value)+1, c.flags))
		if more.Epsilon <= 1 {
			t.Errorf("%s %v %s: one more still costs %v", c.solve, p.Value, c.flags, more.Epsilon)
		}
	}
}

// TestPlanPricesAsTheSamplerCharges: the event of a plan is that of the sampler.
func TestPlanPricesAsTheSamplerCharges(t *testing.T) {
	loss := targets.Loss{Beta: 1.5}
	target, err := targets.New(targets.RegressionConfig{Features: 4, Loss: loss, Prior: priors.Gaussian{SD: 3}})
	if err != nil {
		t.Fatal(err)
	}
	facts := curator.Facts{Records: 30000, Features: 4, Response: true, Radius: 2, RowsPerPerson: 2,
		Adjacency: accountant.AddRemove}
	step, err := barker.Cost(barker.Config{
		Target: target, Proposal: curator.Proposal{Scale: 0.001}, Batch: curator.Batch{Rate: 0.1}, Temperature: 0.5,
	}, facts)
	if err != nil {
		t.Fatal(err)
	}
	want, err := step.Times(3 * 700)
	if err != nil {
		t.Fatal(err)
	}
	got := plan(t, `--kernel barker --records 30000 --delta 1e-6 --solve epsilon --iterations 700 --chains 3 --step 0.001
		--batch 3000 --temperature 0.5 --model logistic --loss beta --beta 1.5 --dimension 4 --radius 2
		--rows-per-person 2 --adjacency add_remove`)
	if !got.Event.Equal(want) {
		t.Errorf("planned %v; the sampler charges %v", got.Event, want)
	}
}

// TestPlanAlternatives: the table has ε for more and fewer steps at several
// batch sizes, rising with the steps, and the plan's own entry is its ε.
func TestPlanAlternatives(t *testing.T) {
	p := plan(t, "--kernel poisson-gaussian --records 60000 --epsilon 1 --delta 1e-5 --solve noise --iterations 10000 "+
		"--batch 600 --adjacency add_remove")
	var before map[string]*float64
	found := false
	for _, row := range p.Alternatives {
		if len(row.Epsilon) < 3 {
			t.Errorf("%d steps: only %d batch sizes", row.Iterations, len(row.Epsilon))
		}
		for name, eps := range row.Epsilon {
			if before != nil && *eps <= *before[name] {
				t.Errorf("%s: ε %v at %d steps, %v at half of them", name, *eps, row.Iterations, *before[name])
			}
		}
		before = row.Epsilon
		if row.Iterations == 10000 {
			found = true
			if eps := *row.Epsilon["batch 600"]; eps != p.Epsilon {
				t.Errorf("the plan's own entry is %v; want %v", eps, p.Epsilon)
			}
		}
	}
	if !found || len(p.Alternatives) < 5 {
		t.Errorf("%d rows, the plan's own among them: %v", len(p.Alternatives), found)
	}
}

// buys is plan's answer without --solve.
func buys(t *testing.T, flags string) forecasts.Purchase {
	t.Helper()
	code, out, errw := feed("", append([]string{"plan", "--json"}, strings.Fields(flags)...)...)
	var p forecasts.Purchase
	if err := json.Unmarshal([]byte(out), &p); code != exitOK || err != nil {
		t.Fatalf("plan %s: exit %d: %s", flags, code, errw)
	}
	return p
}

// TestPlanSaysWhatABudgetBuys: without --solve the answer is what sample would run, what
// it costs, and what it is worth: more at twice the budget, less at half of it; a larger
// table at the same ε·√N is worth the same, within noise.
func TestPlanSaysWhatABudgetBuys(t *testing.T) {
	const small = "--features 2 --delta 1e-6 --iterations 20000 --temperature 0.1 --model logistic "
	p := buys(t, small+"--records 5000 --epsilon 4")
	if p.Epsilon > 4 || p.Epsilon < 3.99 || p.Settings.Kernel != p.Kernel || len(p.Predicted) != 3 ||
		!strings.Contains(p.Command, "--epsilon 4 --delta 1e-06 --model logistic") {
		t.Errorf("%+v", p)
	}
	if this, half, twice := *p.Predicted[0].ESS, *p.Predicted[1].ESS, *p.Predicted[2].ESS; !(half < this && this < twice) {
		t.Errorf("predicted %v at half, %v, %v at twice the budget", half, this, twice)
	}
	large := buys(t, small+"--records 80000 --epsilon 1")
	if ratio := *large.Predicted[0].ESS / *p.Predicted[0].ESS; ratio < 0.4 || ratio > 2.5 {
		t.Errorf("at the same ε·√N the predictions are %v apart", ratio)
	}
	if code, _, errw := feed("", strings.Fields("plan "+small+"--records 5000 --epsilon 1e-7")...); code != exitRefused {
		t.Errorf("a budget that buys nothing: exit %d: %s", code, errw)
	}
}

// TestPlanInWords: the verdict is first, every ε has its theorem, lines fit a terminal,
// and the command is one that sample takes.
func TestPlanInWords(t *testing.T) {
	foreseeShortly(t)
	for flags, first := range map[string]string{
		"--features 1 --records 2000 --epsilon 1 --delta 1e-6": "Enough to use",
		"--features 2 --records 200 --epsilon 0.5 --delta 1e-6": "Enough draws: they are expected to show the posterior, " +
			"with a doubt.\n  verdict on most simulated tables: Usable if columns spread as their bounds\n",
		"--features 1 --records 1000 --epsilon 0.5 --delta 1e-6 --model softmax": "Enough draws",
		"--features 1 --records 600 --epsilon 0.5 --delta 1e-6 --loss beta --beta 1.5": "Not enough: the " +
			"draws would not show the posterior.\n  verdict on most simulated tables: Not usable as it stands",
		"--features 2 --records 5000 --epsilon 0.1 --delta 1e-6 --temperature 0.1 --iterations 20000": "Not enough",
	} {
		code, out, errw := feed("", append([]string{"plan"}, strings.Fields(flags)...)...)
		if code != exitOK || !strings.HasPrefix(out, first) {
			t.Errorf("exit %d: %s%s", code, out, errw)
		}
		for _, want := range []string{"unconditional (substitute)\n  by: ", "half of it", "twice that",
			"\ndpmcmc sample --data"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		for line := range strings.SplitSeq(out, "\n") {
			if len([]rune(line)) > typeset.Columns {
				t.Errorf("longer than %d: %s", typeset.Columns, line)
			}
		}
	}
}

// TestPlanWants: the ε, and the number of records, that a want is solved for meet it, and
// hardly more than meet it.
func TestPlanWants(t *testing.T) {
	foreseeShortly(t)
	const flags = "--features 1 --delta 1e-6 --want ×1.5 "
	for _, given := range []string{"--records 2000", "--epsilon 1"} {
		p := buys(t, flags+given)
		if w := *p.Predicted[0].Widening; !(w < 1.6 && w > 1.3) {
			t.Errorf("%s: ε = %v and %d records widen by %v, not by 1.5", given, p.Epsilon, p.Records, w)
		}
	}
	for want, words := range map[string]string{
		flags + "--records 2000 --epsilon 1":                     "leave one of them out",
		flags + "--records 2000 --temperature auto":              "exclude one another",
		"--features 2 --delta 1e-6 --want x0.5 --records 2000":   "above 1",
		"--features 2 --delta 1e-6 --want narrow --records 2000": "interval ×1.5",
		"--features 2 --delta 1e-6 --want x1.01 --records 20":    "would take more than 50",
	} {
		if code, _, errw := feed("", append([]string{"plan"}, strings.Fields(want)...)...); code != exitUsage ||
			!strings.Contains(errw, words) {
			t.Errorf("%s: exit %d: %s", want, code, errw)
		}
	}
}

// TestPlanTempers: --temperature auto buys the ESS that is asked for, where chains cannot
// be anchored.
func TestPlanTempers(t *testing.T) {
	p := buys(t,
		"--features 1 --delta 1e-6 --records 2000 --epsilon 2 --kernel barker --iterations 20000 --temperature auto "+
			"--ess 100")
	if ess := *p.Predicted[0].ESS; !(ess >= 80 && ess < 400) || !(p.Settings.Temperature < 1) {
		t.Errorf("an ESS of %v at temperature %v", ess, p.Settings.Temperature)
	}
	if !strings.Contains(p.Command, fmt.Sprintf("--temperature %v", p.Settings.Temperature)) {
		t.Errorf("the command is %s", p.Command)
	}
}

// TestPlanAveragingBeatsTheWorstDirection: at d = 50 the averaged price of a step
// is at least 30 times below that of its worst direction.
func TestPlanAveragingBeatsTheWorstDirection(t *testing.T) {
	const flags = "--kernel barker --records 30000 --epsilon 1 --delta 1e-6 --solve iterations --step 0.001 --radius 1 " +
		"--model logistic"
	p := plan(t, flags+" --dimension 50")
	if w := p.WorstCase; w == nil || w.Ratio < 30 || w.Ratio > 60 || math.Abs(w.Worst/w.Averaged/w.Ratio-1) > 1e-12 ||
		w.Dimension != 50 {
		t.Errorf("worst case %+v", w)
	}
	if p := plan(t, flags); p.WorstCase != nil {
		t.Errorf("without --dimension: %+v", p.WorstCase)
	}
	if p := plan(t, flags+" --dimension 50 --proposal truncated:8"); p.WorstCase != nil {
		t.Errorf("a price that is no average is compared: %+v", p.WorstCase)
	}
}

// TestPlanDelta: --solve delta is the accountant's δ.
func TestPlanDelta(t *testing.T) {
	p := plan(t, "--kernel gaussian --records 1000 --epsilon 2 --solve delta --iterations 100 --noise 20")
	g, err := p.Event.Delta(2)
	if err != nil || p.Value != g.Delta || p.Delta != g.Delta || p.Epsilon != 2 {
		t.Errorf("δ %v at ε %v; want %v (%v)", p.Value, p.Epsilon, g.Delta, err)
	}
}

// TestPlanRefusesWhatIsOverBudget: a limit beside --solve epsilon is enforced
// with the exit code of a refusal.
func TestPlanRefusesWhatIsOverBudget(t *testing.T) {
	const flags = "plan --kernel gaussian --records 1000 --delta 1e-6 --solve epsilon --iterations 100 --noise 20 " +
		"--epsilon "
	if code, _, errw := feed("", strings.Fields(flags+"2")...); code != exitRefused || !strings.Contains(errw, "2.254") {
		t.Errorf("exit %d: %s", code, errw)
	}
	if code, _, errw := feed("", strings.Fields(flags+"2.3")...); code != exitOK {
		t.Errorf("exit %d: %s", code, errw)
	}
}

func TestPlanWords(t *testing.T) {
	code, out, errw := feed("", strings.Fields("plan --kernel gaussian --records 1000 --epsilon 1 --delta 1e-6 --solve "+
		"iterations --noise 50 --rows-per-person 2")...)
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, errw)
	}
	// The exact trade-off (Balle, Wang 2018) has µ = 2√n/50 and reaches ε = 1 at
	// n = 35.018; at n = 35 it is 0.99972137… (mpmath, 40 digits), rounded up.
	for _, want := range []string{
		"iterations = 35\n", "ε = 0.999722 at δ = 1e-06, unconditional\n",
		"Adjacency: substitute (one record is replaced, and their number is public)",
		"Accounting: gaussian-exact; Gaussian trade-off (Balle, Wang 2018, Thm 8; Dong, Roth, Su 2022, Cor. 2)",
		"1000 records, at most 2 of one person", "ε at δ = 1e-06 for other lengths of the run",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("printed\n%s\nwithout %q", out, want)
		}
	}
}

// TestPlanRefusals: every wrong input exits with 2 and names the flag.
func TestPlanRefusals(t *testing.T) {
	const base = "--records 100 --epsilon 1 --delta 1e-6"
	const noisy = "--kernel poisson-gaussian --solve noise --iterations 10 "
	for name, c := range map[string]struct{ flags, want string }{
		"nothing":           {"", "--epsilon, --delta, --records, --features are required"},
		"unknown kernel":    {"--solve noise --kernel nuts " + base, `--kernel is "nuts"`},
		"no features":       {"--kernel barker " + base, "--features is required"},
		"solve not its own": {"--kernel barker --solve noise " + base, `--solve is "noise"`},
		"no records":        {"--kernel gaussian --solve noise --epsilon 1 --delta 1e-6", "--records is 0"},
		"no epsilon":        {"--kernel gaussian --solve noise --records 9 --delta 1e-6", "--epsilon is required"},
		"no delta":          {"--kernel gaussian --solve noise --records 9 --epsilon 1", "--delta is required"},
		"ε 0":               {"--kernel gaussian --solve noise --records 9 --epsilon 0 --delta 1e-6", "--epsilon is 0"},
		"ε negative":        {"--kernel gaussian --solve noise --records 9 --epsilon -1 --delta 1e-6", "--epsilon is -1"},
		"ε NaN": {"--kernel gaussian --solve noise --records 9 --epsilon NaN --delta 1e-6",
			"--epsilon is NaN"},
		"δ 1":                 {"--kernel gaussian --solve noise --records 9 --epsilon 1 --delta 1", "--delta is 1"},
		"δ NaN":               {"--kernel gaussian --solve noise --records 9 --epsilon 1 --delta NaN", "--delta is NaN"},
		"no iterations":       {"--kernel gaussian --solve noise " + base, "--iterations is required"},
		"iterations negative": {"--kernel gaussian --solve noise --iterations -1 " + base, "--iterations is -1"},
		"iterations too many": {"--kernel gaussian --solve noise --iterations 9007199254740993 " + base,
			"--iterations is 9007199254740993"},
		"given and solved":    {"--kernel gaussian --solve noise --noise 1 --iterations 1 " + base, "--noise is given"},
		"not the kernel's":    {"--kernel gaussian --solve noise --iterations 1 --clip 1 " + base, "--clip has no meaning"},
		"no chains":           {"--kernel gaussian --solve noise --iterations 1 --chains 0 " + base, "--chains is 0"},
		"rows":                {"--kernel gaussian --solve noise --iterations 1 --rows-per-person 0 " + base, "rows 0"},
		"adjacency":           {"--kernel gaussian --solve noise --iterations 1 --adjacency swap " + base, "--adjacency"},
		"batch and rate":      {noisy + "--batch 5 --rate 0.5 " + base, "exclude one another"},
		"batch above records": {noisy + "--batch 101 " + base, "--batch is 101"},
		"batch 0":             {noisy + "--batch 0 " + base, "--batch is 0"},
		"rate above 1":        {noisy + "--rate 1.5 " + base, "--rate is 1.5"},
		"rate NaN":            {noisy + "--rate NaN " + base, "--rate is NaN"},
		"fixed rate":          {noisy + "--rate 0.5 --fixed-batch " + base, "--fixed-batch goes with --batch"},
		"fixed add/remove":    {noisy + "--batch 5 --fixed-batch --adjacency add_remove " + base, "substitution only"},
		"no bound":            {"--kernel barker --solve iterations " + base, "--step is required"},
		"no step":             {"--kernel barker --solve iterations --radius 1 --lipschitz 1 " + base, "--step is required"},
		"no radius":           {"--kernel barker --solve iterations --step 1 --lipschitz 1 " + base, "--radius"},
		"two slopes": {"--kernel barker --solve iterations --step 1 --radius 1 --lipschitz 1 --model logistic " +
			base, "leave --lipschitz out"},
		"unknown model": {"--kernel barker --solve iterations --step 1 --model tree " + base, `--model is "tree"`},
		"beta without loss": {"--kernel barker --solve iterations --step 1 --radius 1 --model logistic --beta 1.5 " + base,
			"--loss is log"},
		"slope NaN": {"--kernel barker --solve iterations --step 1 --radius 1 --lipschitz NaN " + base,
			"--lipschitz is NaN"},
		"negative radius": {"--kernel barker --solve iterations --step 1 --radius -1 --lipschitz 1 " + base,
			"radius is -1"},
		"dimension": {"--kernel barker --solve iterations --step 1 --dimension 0 " + base, "--dimension is 0"},
		"test":      {"--kernel barker --solve iterations --clip 1 --test metropolis " + base, "--test"},
		"no difference": {"--kernel barker --solve step --iterations 10 --clip 0.1 " + base,
			"--step makes no difference"},
		"unreachable": {"--kernel barker --solve iterations --clip 50 " + base,
			"comes nearest, by the value 1; ask for that"},
		"one record": {"--kernel poisson-gaussian --solve batch --noise 1 --iterations 1 --records 1 --epsilon 1 " +
			"--delta 1e-6", "nothing to solve"},
		"no longest move":      {"--kernel dphmc --solve noise --iterations 1 --clip 1 " + base, "--max-move is required"},
		"no gradients by name": {"--kernel dphmc --solve noise --iterations 1 --leapfrog 0 " + base, "--leapfrog is 0"},
		"plot of no steps":     {"--kernel gaussian --solve epsilon --noise 1 --iterations 0 --plot p.svg " + base, "--plot"},
		"plot into nowhere": {"--kernel gaussian --solve noise --iterations 1 --plot no/such/folder.svg " +
			base, "--plot"},
	} {
		code, out, errw := feed("", append([]string{"plan"}, strings.Fields(c.flags)...)...)
		if code != exitUsage || out != "" || !strings.Contains(errw, c.want) {
			t.Errorf("%s: exit %d, printed %q, error %q; want exit 2 and %q", name, code, out, errw, c.want)
		}
	}
}

// TestPlanPlots: both charts are drawn, with the plan and the budget in them.
func TestPlanPlots(t *testing.T) {
	t.Chdir(t.TempDir())
	flags := "plan --kernel poisson-gaussian --records 60000 --epsilon 1 --delta 1e-5 --solve noise --iterations 1000 " +
		"--batch 600 --plot p.svg"
	if code, _, errw := feed("", strings.Fields(flags)...); code != exitOK {
		t.Fatalf("exit %d: %s", code, errw)
	}
	svgHas(t, "p.svg", "ε against iterations, δ = 1e-05, substitute", "ε against the batch size, 1000 iterations",
		"batch 600", "budget", "this plan")
}

// TestExamplesRun runs the examples in the help of account and plan, and every
// command of docs/planning.md, as if from the root of a checkout.
func TestExamplesRun(t *testing.T) {
	foreseeShortly(t)
	guide, err := os.ReadFile("../../docs/planning.md")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	joined := strings.NewReplacer(" \\\n    ", " ", " \\\n  ", " ", " |\n    ", " | ", " |\n  ", " | ", ",\n    ", ",")
	for line := range strings.SplitSeq(joined.Replace(string(guide)), "\n") {
		if strings.HasPrefix(line, "dpmcmc ") || strings.HasPrefix(line, "echo ") {
			lines = append(lines, line)
		}
	}
	if len(lines) < 5 {
		t.Errorf("docs/planning.md has only %d commands", len(lines))
	}
	for _, command := range newRoot().Commands() {
		if slices.Contains([]string{"account", "plan"}, command.Name()) {
			lines = append(lines, strings.Split(joined.Replace(command.Example), "\n")...)
		}
	}
	root := t.TempDir()
	if err := os.CopyFS(root+"/docs/events", os.DirFS("../../docs/events")); err != nil {
		t.Fatal(err)
	}
	for _, run := range []string{"monday", "friday"} { // what a certificate has for account is its list of events
		text, err := os.ReadFile(root + "/docs/events/heikkila2019-bit.json")
		if err == nil {
			err = errors.Join(os.Mkdir(root+"/"+run, 0o755), os.WriteFile(root+"/"+run+"/certificate.json", text, 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	slices.Sort(lines)
	for _, line := range slices.Compact(lines) { // the document has some of the command's own
		stdin, args, err := example(line)
		if err != nil {
			t.Error(err)
			continue
		}
		if code, out, errw := feed(stdin, args...); code != exitOK || out == "" {
			t.Errorf("%s\nexit %d: %s", line, code, errw)
		}
	}
}

// example splits a line of an example into what it pipes in and its arguments.
func example(line string) (stdin string, args []string, err error) {
	if rest, ok := strings.CutPrefix(line, "echo '"); ok {
		if stdin, line, ok = strings.Cut(rest, "' | "); !ok {
			return "", nil, errors.New("no pipe in " + line)
		}
	}
	args = strings.Fields(line)
	if len(args) == 0 || args[0] != "dpmcmc" {
		return "", nil, fmt.Errorf("%q does not run dpmcmc", line)
	}
	return stdin, args[1:], nil
}

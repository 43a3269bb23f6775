package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/prices"
)

// feed runs the command with a text on standard input.
func feed(stdin string, args ...string) (code int, out, errw string) {
	var o, e bytes.Buffer
	code = run(context.Background(), accepting(args), strings.NewReader(stdin), &o, &e)
	return code, o.String(), e.String()
}

const hundredGaussians = `{"adjacency":"substitute","events":[{"kind":"gaussian","noise_multiplier":20,"count":100}]}`

// TestAccountWords is the table a steward reads. ε is the closed form of Balle
// and Wang (2018) at µ = ½, 2.25408465… by mpmath in 40 digits, rounded up.
func TestAccountWords(t *testing.T) {
	code, out, errw := feed(hundredGaussians, "account", "--events", "-", "--delta", "1e-6", "--orders", "2,4.5")
	if code != exitOK || errw != "" {
		t.Fatalf("exit %d: %s", code, errw)
	}
	const want = `Releases
  100  × gaussian(noise_multiplier 20)

ε = 2.25409 at δ = 1e-06, unconditional
  Adjacency: substitute (one record is replaced, and their number is public)
  Accounting: gaussian-exact; Gaussian trade-off (Balle, Wang 2018, Thm 8; Dong, Roth, Su 2022, Cor. 2)
  Remark: ε = 2.25 is above 1.

Valid bounds on ε
  gaussian-exact  2.25409
  pld             2.25409
  rdp             2.4191

Rényi cost
  order    cost
      2    0.25
    4.5  0.5625
`
	if out != want {
		t.Errorf("printed\n%s\nwant\n%s", out, want)
	}
}

// TestAccountJSON holds the object to cli.md's fields and to the accountant.
func TestAccountJSON(t *testing.T) {
	code, out, errw := feed(hundredGaussians, "account", "--events", "-", "--delta", "1e-6", "--json", "--orders", "2,64",
		"--classic")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, errw)
	}
	var got struct {
		Epsilon, Delta, Order      *float64
		Adjacency, Method, Theorem string
		Orders                     []struct{ Order, RDP float64 }
		Alternatives               map[string]float64
	}
	dec := json.NewDecoder(strings.NewReader(out))
	if err := dec.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		t.Errorf("more than one object: %v", err)
	}
	var e accountant.Event
	if err := e.UnmarshalJSON([]byte(hundredGaussians)); err != nil {
		t.Fatal(err)
	}
	g, err := e.Epsilon(1e-6)
	if err != nil {
		t.Fatal(err)
	}
	classic, err := e.ClassicEpsilon(1e-6)
	if err != nil {
		t.Fatal(err)
	}
	if *got.Epsilon != g.Epsilon || *got.Delta != 1e-6 || got.Adjacency != "substitute" || got.Method != g.Method ||
		got.Theorem != g.Theorem {
		t.Errorf("got %+v; want the accountant's %+v", got, g)
	}
	if len(got.Orders) != 2 || got.Orders[1].Order != 64 || got.Orders[1].RDP != e.RDP(64) {
		t.Errorf("orders %v", got.Orders)
	}
	if got.Alternatives["rdp"] != g.Alternatives["rdp"] || got.Alternatives["rdp-classic"] != classic.Epsilon {
		t.Errorf("alternatives %v; want %v and the classic %v", got.Alternatives, g.Alternatives, classic.Epsilon)
	}
}

// TestAccountAsksForDelta: --epsilon asks for δ, and the two questions agree.
func TestAccountAsksForDelta(t *testing.T) {
	var there, back accountReport
	accountInto(t, &there, hundredGaussians, "--delta", "1e-6")
	accountInto(t, &back, hundredGaussians, "--epsilon", formatExact(*there.Epsilon))
	if *back.Epsilon != *there.Epsilon || math.Abs(*back.Delta/1e-6-1) > 1e-6 {
		t.Errorf("ε %v at δ 1e-6, but δ %v at that ε", *there.Epsilon, *back.Delta)
	}
}

// TestAccountInfinite: a release without noise costs everything, which JSON
// writes as null.
func TestAccountInfinite(t *testing.T) {
	const naked = `{"adjacency":"substitute","events":[{"kind":"gaussian","noise_multiplier":0}]}`
	var r accountReport
	accountInto(t, &r, naked, "--delta", "1e-6")
	if r.Epsilon != nil {
		t.Errorf("ε %v without noise", *r.Epsilon)
	}
	if _, out, _ := feed(naked, "account", "--events", "-", "--delta", "1e-6"); !strings.Contains(out,
		"ε = ∞ at δ = 1e-06") {
		t.Errorf("printed\n%s", out)
	}
	accountInto(t, &r, `{"adjacency":"substitute","events":[]}`, "--delta", "0")
	if r.Epsilon == nil || *r.Epsilon != 0 {
		t.Errorf("no releases cost %v", r.Epsilon)
	}
}

func accountInto(t *testing.T, r *accountReport, stdin string, args ...string) {
	t.Helper()
	*r = accountReport{}
	code, out, errw := feed(stdin, append([]string{"account", "--events", "-", "--json"}, args...)...)
	if code != exitOK {
		t.Fatalf("%v: exit %d: %s", args, code, errw)
	}
	if err := json.Unmarshal([]byte(out), r); err != nil {
		t.Fatal(err)
	}
}

func formatExact(v float64) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestAccountPLD: for every kind that has a loss distribution, in every scheme
// under which it may be sampled, numerical accounting brackets what is reported,
// the smallest of the bounds; a part in 10⁹ is where a closed form is preferred.
// Only for bits may the numerical bound be above the Rényi one.
func TestAccountPLD(t *testing.T) {
	for _, c := range []struct{ adjacency, event string }{
		{"substitute", `{"kind":"gaussian","noise_multiplier":8,"count":30}`},
		{"add_remove", `{"kind":"gaussian_dp","mu":0.1,"count":30}`},
		{"substitute", `{"kind":"laplace","noise_multiplier":20,"count":30}`},
		{"substitute", `{"kind":"pure","epsilon":0.05,"count":30}`},
		{"substitute", `{"kind":"approximate","epsilon":0.05,"delta":1e-9,"count":30}`},
		{"substitute", `{"kind":"randomized_response","epsilon":0.1,"categories":3,"count":30}`},
		{"substitute", `{"kind":"bounded_range","range":0.1,"count":30}`},
		{"substitute", `{"kind":"acceptance_bit","contribution":0.05,"count":30}`},
		{"add_remove", `{"kind":"acceptance_bit","contribution":0.1,"count":30}`},
		{"add_remove",
			`{"kind":"sampled","scheme":"poisson","rate":0.1,"event":{"kind":"gaussian","noise_multiplier":2},"count":30}`},
		{"substitute",
			`{"kind":"sampled","scheme":"poisson","rate":0.1,"event":{"kind":"gaussian","noise_multiplier":2},"count":30}`},
		{"substitute",
			`{"kind":"sampled","scheme":"poisson","rate":0.1,"event":{"kind":"composed",` +
				`"events":[{"kind":"gaussian","noise_multiplier":3,"count":2},{"kind":"gaussian_dp","mu":0.2}]},"count":30}`},
		{"substitute",
			`{"kind":"sampled","scheme":"poisson","rate":0.1,"event":{"kind":"acceptance_bit","contribution":0.5},"count":30}`},
		{"add_remove",
			`{"kind":"sampled","scheme":"poisson","rate":0.1,"event":{"kind":"laplace","noise_multiplier":2},"count":30}`},
		{"substitute",
			`{"kind":"sampled","scheme":"without_replacement","records":1000,"batch":100,` +
				`"event":{"kind":"gaussian","noise_multiplier":3},"count":30}`},
		{"substitute", `{"kind":"group","rows":2,"event":{"kind":"gaussian","noise_multiplier":8},"count":30}`},
	} {
		document := `{"adjacency":"` + c.adjacency + `","events":[` + c.event + `]}`
		var r accountReport
		accountInto(t, &r, document, "--delta", "1e-6", "--pld")
		upper, rdp := r.Alternatives["pld"], r.Alternatives["rdp"]
		if upper == nil || r.LowerBound == nil {
			t.Errorf("%s: no bracket", c.event)
			continue
		}
		bit := strings.Contains(c.event, "bit") || strings.Contains(c.event, "bounded_range")
		if *r.LowerBound > *r.Epsilon || *r.Epsilon > *upper*(1+1e-9) || *upper > *rdp*(1+1e-9) && !bit {
			t.Errorf("%s: lower %v, pld %v, rdp %v, reported %v", c.event, *r.LowerBound, *upper, *rdp, *r.Epsilon)
		}
	}
	const zcdp = `{"adjacency":"substitute","events":[{"kind":"zcdp","rho":0.1}]}`
	for args, why := range map[string]string{
		"--delta 1e-6 --pld": "no privacy loss distribution is known for zcdp", "--epsilon 1": "zcdp",
		"--delta 0": "δ = 0",
	} {
		code, out, errw := feed(zcdp, append([]string{"account", "--events", "-"}, strings.Fields(args)...)...)
		if code != exitOK || !strings.Contains(out, "Not composed numerically: ") || !strings.Contains(out, why) {
			t.Errorf("zcdp with %s: exit %d, %s%s", args, code, out, errw)
		}
	}
}

// TestAccountRefusals: every wrong input exits with 2 and says what is wrong,
// and in a document where.
func TestAccountRefusals(t *testing.T) {
	const head = `{"adjacency":"substitute","events":[`
	for name, c := range map[string]struct{ stdin, flags, want string }{
		"empty":            {"", "--delta 1e-6", "standard input is empty"},
		"blank":            {" \n\t", "--delta 1e-6", "standard input is empty"},
		"malformed":        {head + "\n {\"kind\":\"pure\",}]}", "--delta 1e-6", "standard input:2:17: "},
		"cut off":          {head, "--delta 1e-6", "standard input:1:36: "},
		"trailing":         {head + "]} x", "--delta 1e-6", "standard input:1:40: "},
		"a list":           {"[1]", "--delta 1e-6", "found a JSON array"},
		"events an object": {`{"adjacency":"substitute","events":{}}`, "--delta 1e-6", ":1:36: found a JSON object"},
		"NaN":              {head + `{"kind":"pure","epsilon":NaN}]}`, "--delta 1e-6", ":1:62: "},
		"unknown kind": {head + "\n {\"kind\":\"pure\",\"epsilon\":1},\n   {\"kind\":\"guassian\"}]}", "--delta 1e-6",
			`:3:4: event 1: accountant: unknown kind "guassian"`},
		"unknown field": {head + `{"kind":"pure","epsilon":1,"eps":2}]}`, "--delta 1e-6",
			`:1:37: event 0: accountant: pure: unknown field "eps"`},
		"nested": {head +
			"{\"kind\":\"composed\",\"events\":[{\"kind\":\"pure\",\"epsilon\":1},\n{\"kind\":\"pure\"}]}]}", "--delta 1e-6",
			`:2:1: event 0: event 1: `},
		"under substitution": {head + "{\"kind\":\"substitution\",\"event\":\n  {\"kind\":\"pure\",\"epsilon\":-1}}]}",
			"--delta 1e-6", `:2:3: `},
		"no adjacency":    {`{"events":[]}`, "--delta 1e-6", `"adjacency" is required`},
		"other adjacency": {`{"adjacency":"swap","events":[]}`, "--delta 1e-6", `adjacency "swap"`},
		"no events":       {`{"adjacency":"substitute"}`, "--delta 1e-6", `"events" is required`},
		"negative noise":  {head + `{"kind":"gaussian","noise_multiplier":-2}]}`, "--delta 1e-6", "noise multiplier -2"},
		"rate above 1": {head +
			`{"kind":"sampled","scheme":"poisson","rate":1.5,"event":{"kind":"gaussian","noise_multiplier":1}}]}`,
			"--delta 1e-6", "rate 1.5"},
		"batch too large": {head +
			`{"kind":"sampled","scheme":"without_replacement","records":10,"batch":11,"event":{"kind":"pure","epsilon":1}}]}`,
			"--delta 1e-6", "batch 11"},
		"negative count": {head + `{"kind":"pure","epsilon":1,"count":-1}]}`, "--delta 1e-6", "count -1"},
		"neither":        {head + "]}", "", "exactly one of --delta"},
		"both":           {head + "]}", "--delta 1e-6 --epsilon 1", "exactly one of --delta"},
		"δ of 1":         {head + "]}", "--delta 1", "--delta is 1"},
		"negative δ":     {head + "]}", "--delta -0.1", "--delta is -0.1"},
		"δ NaN":          {head + "]}", "--delta NaN", "--delta is NaN"},
		"negative ε":     {head + "]}", "--epsilon -1", "--epsilon is -1"},
		"ε infinite":     {head + "]}", "--epsilon Inf", "--epsilon is +Inf"},
		"ε NaN":          {head + "]}", "--epsilon NaN", "--epsilon is NaN"},
		"δ not a number": {head + "]}", "--delta x", "--delta"},
		"order of 1":     {head + "]}", "--delta 1e-6 --orders 2,1", `--orders has "1"`},
		"order NaN":      {head + "]}", "--delta 1e-6 --orders NaN", `--orders has "NaN"`},
		"classic for δ":  {head + "]}", "--epsilon 1 --classic", "--classic"},
		"an argument":    {head + "]}", "--delta 1e-6 events.json", "events.json"},
		"plot of nothing": {`{"adjacency":"substitute","events":[{"kind":"gaussian","noise_multiplier":0}]}`,
			"--delta 1e-6 --plot no.svg", "--plot"},
	} {
		code, out, errw := feed(c.stdin, append([]string{"account", "--events", "-"}, strings.Fields(c.flags)...)...)
		if code != exitUsage || out != "" || !strings.Contains(errw, c.want) {
			t.Errorf("%s: exit %d, printed %q, error %q; want exit 2 and %q", name, code, out, errw, c.want)
		}
	}
	if code, _, errw := feed("", "account", "--delta", "1e-6"); code != exitUsage ||
		!strings.Contains(errw, "--events is required") {
		t.Errorf("no --events: exit %d, %q", code, errw)
	}
	if code, _, errw := feed("", "account", "--delta", "1e-6", "--events", "missing.json"); code != exitUsage ||
		!strings.Contains(errw, "missing.json") {
		t.Errorf("missing file: exit %d, %q", code, errw)
	}
}

// TestAccountReadsFiles: a file, with the byte order mark that Windows editors
// add, is read like standard input, and errors name it.
func TestAccountReadsFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("events.json", []byte("\xef\xbb\xbf"+hundredGaussians), 0o644); err != nil {
		t.Fatal(err)
	}
	_, want, _ := feed(hundredGaussians, "account", "--events", "-", "--delta", "1e-6")
	code, out, errw := feed("", "account", "--events", "events.json", "--delta", "1e-6")
	if code != exitOK || out != want {
		t.Errorf("exit %d, %q: printed\n%s\nwant\n%s", code, errw, out, want)
	}
	if err := os.WriteFile("events.json", []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, errw := feed("", "account", "--events", "events.json", "--delta", "1e-6"); !strings.Contains(errw,
		"events.json:1:1") {
		t.Errorf("error %q", errw)
	}
}

// TestAccountPlots: the picture is well-formed and shows both charts.
func TestAccountPlots(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, question := range []string{"--delta=1e-6", "--epsilon=2"} {
		if code, _, errw := feed(hundredGaussians, "account", "--events", "-", question, "--plot", "a.svg"); code != exitOK {
			t.Fatalf("exit %d: %s", code, errw)
		}
		svgHas(t, "a.svg", "Rényi cost", "δ against ε, substitute", "best closed form", "answer")
		if code, _, errw := feed(hundredGaussians, "account", "--events", "-", question, "--pld", "--plot",
			"a.svg"); code != exitOK {
			t.Fatalf("exit %d: %s", code, errw)
		}
		svgHas(t, "a.svg", "numerical")
	}
}

// svgHas fails the test if the file is not well-formed or lacks a text.
func svgHas(t *testing.T, path string, texts ...string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dec := xml.NewDecoder(bytes.NewReader(b))
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%s is not well-formed: %v", path, err)
		}
	}
	for _, want := range texts {
		if !bytes.Contains(b, []byte(">"+want+"<")) {
			t.Errorf("%s does not show %q", path, want)
		}
	}
}

// TestPublishedExperiment: the documented events of the mixture experiment of
// Heikkilä et al. (2019, their Fig. 2): 1.0004 as published with the classic
// conversion; at most 0.244 with the theorem mended; at most 0.018 for the bit.
func TestPublishedExperiment(t *testing.T) {
	for name, c := range map[string]struct {
		field     string
		low, high float64
	}{
		"heikkila2019-published.json": {"rdp-classic", 1.00035, 1.00045},
		"heikkila2019-tightened.json": {"rdp-classic", 0.2, 0.244},
		"heikkila2019-bit.json":       {"rdp", 0.01, 0.018},
	} {
		code, out, errw := feed("", "account", "--events", "../../docs/events/"+name, "--delta", "1e-6",
			"--classic", "--json")
		if code != exitOK {
			t.Fatalf("%s: exit %d: %s", name, code, errw)
		}
		var r accountReport
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		if eps := *r.Alternatives[c.field]; eps < c.low || eps > c.high {
			t.Errorf("%s: %s gives ε %v; want it in [%v, %v]", name, c.field, eps, c.low, c.high)
		}
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/accountant"
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

// TestAccountRefusals: every wrong input exits with 2 and says what is wrong,
// and in a document where.
func TestAccountRefusals(t *testing.T) {
	const head = `{"adjacency":"substitute","events":[`
	for name, c := range map[string]struct{ stdin, flags, want string }{
		"empty":          {"", "--delta 1e-6", "standard input is empty"},
		"blank":          {" \n\t", "--delta 1e-6", "standard input is empty"},
		"malformed":      {head + "\n {\"kind\":\"pure\",}]}", "--delta 1e-6", "standard input:2:17: "},
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

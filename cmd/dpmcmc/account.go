package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/internal/prices"
	"github.com/dpmcmc/dpmcmc/internal/runs"
)

// accountSettings are the flags of account.
type accountSettings struct {
	events             []string
	orders, plot       string
	epsilon, delta     float64
	givenDelta         bool // δ was given and ε is asked, or the other way round
	classic, pld, json bool
}

func newAccount() *cobra.Command {
	s := &accountSettings{}
	c := &cobra.Command{
		Use:   "account",
		Short: "Say what a list of releases costs",
		Long: `account reads a list of releases (JSON, from a file or standard input) and says
what they cost together: ε at a given δ, or δ at a given ε, by the smallest of
the valid bounds, which it names. Privacy losses are composed numerically where
their distributions are known. It sees parameters of mechanisms, never data.

The document states the adjacency, "substitute" (one record is replaced, their
number is public) or "add_remove", and lists events, each with its kind, its
parameters and a count; noise_multiplier is the noise's standard deviation
(Laplace: its scale) over the sensitivity under that adjacency. docs/planning.md
lists all kinds. The certificate.json of a run will do as well: several of them,
from runs on the same people, are added up.`,
		Example: `  echo '{"adjacency":"substitute","events":[{"kind":"gaussian","noise_multiplier":20,"count":100}]}' |
    dpmcmc account --events - --delta 1e-6
  echo '{"adjacency":"add_remove","events":[{"kind":"sampled","scheme":"poisson","rate":0.01,
    "event":{"kind":"gaussian","noise_multiplier":1},"count":1000}]}' |
    dpmcmc account --events - --delta 1e-5 --pld
  echo '{"adjacency":"substitute","events":[{"kind":"randomized_response","epsilon":0.5,"count":8}]}' |
    dpmcmc account --events - --epsilon 2 --orders 2,4.5,64 --json
  dpmcmc account --events monday/certificate.json --events friday/certificate.json --delta 1e-6`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := s.check(c.Flags().Changed); err != nil {
				return err
			}
			return s.run(c.InOrStdin(), c.OutOrStdout())
		},
	}
	f := c.Flags()
	f.StringArrayVar(&s.events, "events", nil, "JSON file with the releases, a run's certificate.json, or - for "+
		"standard input; required. Given several times, all are added up")
	f.Float64Var(&s.delta, "delta", 0, "δ in [0, 1): asks for ε. Exactly one of --delta and --epsilon is required")
	f.Float64Var(&s.epsilon, "epsilon", 0, "ε of at least 0: asks for δ")
	f.StringVar(&s.orders, "orders", "", "Rényi orders above 1 whose costs to list, such as 2,4.5,64; by default a few "+
		"round ones and the best")
	f.BoolVar(&s.classic, "classic", false,
		"list the classic conversion of the Rényi cost too, which most publications print")
	f.BoolVar(&s.pld, "pld", false, "print the lower bound of numerical composition too, "+
		"which some pair of adjacent data sets attains")
	f.BoolVar(&s.json, "json", false, "print one JSON object")
	f.StringVar(&s.plot, "plot", "", "SVG file to draw into: the Rényi cost against the order, and δ against ε")
	return c
}

// check reports flags that are missing or out of range.
func (s *accountSettings) check(given func(flag string) bool) error {
	s.givenDelta = given("delta")
	var missing []error
	if len(s.events) == 0 {
		missing = append(missing, errors.New("--events is required: a JSON file with the releases, a run's "+
			"certificate.json, or - for standard input"))
	}
	if s.givenDelta == given("epsilon") {
		missing = append(missing,
			errors.New("give exactly one of --delta, which asks for ε, and --epsilon, which asks for δ"))
	}
	if missing != nil {
		return errors.Join(missing...)
	}
	switch {
	case s.givenDelta && !(s.delta >= 0 && s.delta < 1):
		return fmt.Errorf("--delta is %v; it must be in [0, 1)", s.delta)
	case !s.givenDelta && (!(s.epsilon >= 0) || math.IsInf(s.epsilon, 1)):
		return fmt.Errorf("--epsilon is %v; it must be finite and at least 0", s.epsilon)
	case s.classic && !(s.delta > 0):
		return errors.New("--classic converts to ε at a positive δ: give --delta")
	}
	return nil
}

// run reads the releases, prices them and prints the answer.
func (s *accountSettings) run(in io.Reader, out io.Writer) error {
	orders, err := parseOrders(s.orders)
	if err != nil {
		return err
	}
	event, err := s.read(in)
	if err != nil {
		return err
	}
	answer, err := prices.CostOf(event, prices.CostQuestion{AskEpsilon: s.givenDelta, Epsilon: s.epsilon, Delta: s.delta,
		Classic: s.classic, Lower: s.pld, Orders: orders})
	if err != nil {
		return err
	}
	return present(out, answer, s.plot, s.json)
}

// read reads and decodes the documents, and adds them up.
func (s *accountSettings) read(in io.Reader) (accountant.Event, error) {
	var all []accountant.Event
	for _, path := range s.events {
		name, text, err := path, []byte(nil), error(nil)
		if path == "-" {
			name = "standard input"
			text, err = io.ReadAll(in)
		} else {
			text, err = os.ReadFile(path)
		}
		if err != nil {
			return accountant.Event{}, fmt.Errorf("--events: %w; name a run's certificate.json, or a JSON file with "+
				"releases", err)
		}
		e, err := runs.DecodeEvents(name, text)
		if err != nil {
			return accountant.Event{}, err
		}
		all = append(all, e)
	}
	if len(all) == 1 {
		return all[0], nil
	}
	e, err := accountant.Compose(all...)
	if err != nil {
		return e, fmt.Errorf("--events: %w", err)
	}
	return e, nil
}

// parseOrders reads --orders; no orders stand for the default ones.
func parseOrders(text string) ([]float64, error) {
	if text == "" {
		return nil, nil
	}
	var out []float64
	for field := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil || !(v > 1) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("--orders has %q; orders are finite numbers above 1, separated by commas, such as 2,4.5,64",
				field)
		}
		out = append(out, v)
	}
	return out, nil
}

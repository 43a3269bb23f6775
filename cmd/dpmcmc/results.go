package main

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/dpmcmc/dpmcmc/internal/runs"
	"github.com/spf13/pflag"
)

func bindView(f *pflag.FlagSet, v *runs.View) {
	f.BoolVar(&v.Standardised, "standardised", false, "summarise per unit of the scaled columns instead of the file's")
}

// report prints the summary and the certificate, and writes them and the page with
// --out.
func (s *sampleSettings) report(f *runs.Run, out io.Writer) (err error) {
	spent, totals, err := s.accounts.Spent()
	if err != nil {
		return err
	}
	words := f.Words(s.View) + spent
	text := words
	if s.json {
		r := f.Results(s.View)
		if totals != nil {
			r.Ledger = totals
		}
		b, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		text = string(b) + "\n"
	}
	if s.out != "" {
		err = errors.Join(runs.WriteFile(s.out, runs.CertificateFile, f.Certificate.JSON()),
			s.accounts.Certificate(f.Certificate.JSON()), runs.WriteFile(s.out, runs.SummaryFile, []byte(words)),
			f.WritePage(s.out))
	}
	if s.json {
		_, werr := io.WriteString(out, text)
		return errors.Join(err, werr)
	}
	return errors.Join(err, say(out, text))
}

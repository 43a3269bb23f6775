package audit

import (
	"encoding/xml"
	"fmt"
	"io"
)

// suite and its parts are the JUnit form that pipelines read.
type suite struct {
	XMLName  xml.Name `xml:"testsuite"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Cases    []trial  `xml:"testcase"`
}

type trial struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	Failure *failure `xml:"failure,omitempty"`
	Output  string   `xml:"system-out"`
}

type failure struct {
	Message string `xml:"message,attr"`
}

// WriteJUnit writes findings as a JUnit test suite: a claim that is violated is a
// failed test.
func WriteJUnit(w io.Writer, findings []Finding) error {
	s := suite{Name: "dpmcmc audit", Tests: len(findings)}
	for _, f := range findings {
		c := trial{Name: f.Name, Class: "audit", Output: f.String()}
		if f.Violated() {
			s.Failures++
			c.Failure = &failure{f.String()}
		}
		s.Cases = append(s.Cases, c)
	}
	raw, err := xml.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, raw)
	return err
}

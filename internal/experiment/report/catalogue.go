package report

import (
	"fmt"
	"strings"

	"github.com/dpmcmc/dpmcmc/chains"
	"github.com/dpmcmc/dpmcmc/internal/experiment/configs"
	"github.com/dpmcmc/dpmcmc/internal/experiment/methods"
	"github.com/dpmcmc/dpmcmc/internal/experiment/metrics"
)

// Catalogue lists what a configuration can name.
func Catalogue() string {
	var w strings.Builder
	fmt.Fprintln(&w, "Methods ([[method]] name, with its settings and their defaults)")
	for _, m := range methods.All() {
		models := "every model"
		if m.Models != nil {
			models = strings.Join(m.Models, ", ")
		}
		fmt.Fprintf(&w, "\n  %s  [%s; %s]\n    %s\n", m.Name, m.Kind, models, m.About)
		_, err := chains.Describe(m.Name)
		chain := err == nil
		var others []string
		for _, s := range m.Settings {
			if _, shared := chains.Lookup(s.Name); shared && chain {
				others = append(others, s.Name)
				continue
			}
			fmt.Fprintf(&w, "      %s = %#v: %s\n", s.Name, s.Default, s.About)
		}
		if others != nil {
			fmt.Fprintf(&w, "      %s: see below\n", strings.Join(others, ", "))
		}
	}
	fmt.Fprintln(&w, "\nSettings of private chains, as in dpmcmc sample")
	for _, v := range chains.Table() {
		if v.Name != "kernel" {
			fmt.Fprintf(&w, "\n  %s\n    %s\n", v.Name, v.About())
		}
	}
	fmt.Fprintln(&w, "\nMetrics (metrics = [...])")
	for _, m := range metrics.List() {
		fmt.Fprintf(&w, "\n  %s\n    %s\n", m.Name, m.About)
		if m.Reads != metrics.Nothing {
			fmt.Fprintf(&w, "    not on private data: it depends on %s\n", m.Reads)
		}
	}
	fmt.Fprintf(&w, "\nBundled experiments (--config bundled:NAME): %s\nBundled schemas (schema = \"bundled:NAME\"): %s\n",
		strings.Join(configs.Experiments(), ", "), strings.Join(configs.Schemas(), ", "))
	return w.String()
}

package stancsv

import (
	"fmt"
	"slices"
	"strings"
)

// samplerColumns are the columns before the parameters, in CmdStan's order: those that
// mean something here, and lp__, without which readers refuse a file. Columns of
// Hamiltonian trajectories full of zeros would pass checks that nothing was checked by.
var samplerColumns = []string{"lp__", "accept_stat__", "stepsize__"}

// ColumnName returns the column of a parameter: beta.1 for beta[1], L.2.1 for
// L[2,1], and the name itself when it has no brackets.
func ColumnName(parameter string) string {
	return strings.NewReplacer("[", ".", ",", ".", "]", "").Replace(parameter)
}

// ParameterName returns the parameter of a column: the inverse of [ColumnName].
func ParameterName(column string) string {
	base, index, found := strings.Cut(column, ".")
	if !found {
		return column
	}
	return base + "[" + strings.ReplaceAll(index, ".", ",") + "]"
}

// checkColumns returns why the columns cannot be parameters: readers take the
// part before the first dot as a name of letters, digits and _, and all other
// parts as positive whole numbers.
func checkColumns(columns []string) error {
	seen := map[string]bool{}
	for _, column := range columns {
		parts := strings.Split(column, ".")
		base := parts[0]
		if base == "" || strings.ContainsFunc(base, notKeyRune) || base[0] >= '0' && base[0] <= '9' ||
			strings.HasSuffix(base, "__") {
			return fmt.Errorf("stancsv: the parameter name %q must start with a letter, have only letters, digits and _ "+
				"before its index, and not end in __", column)
		}
		if slices.ContainsFunc(parts[1:], notIndex) {
			return fmt.Errorf("stancsv: the parameter name %q has an index that is not a whole number from 1; write beta[1] "+
				"or beta.1", column)
		}
		if seen[column] {
			return fmt.Errorf("stancsv: the parameter name %q stands twice; every column needs its own", column)
		}
		seen[column] = true
	}
	return nil
}

// notIndex reports whether s is not a whole number from 1 without leading zeros.
func notIndex(s string) bool {
	return s == "" || s[0] == '0' || strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

package flags

import (
	"github.com/spf13/pflag"

	"github.com/dpmcmc/dpmcmc/internal/accounts"
)

// Who declares --who.
func Who(f *pflag.FlagSet, who *string) {
	f.StringVar(who, "who", "", "who asks, for the ledger; by default the user's name")
}

// Ledger declares the flags of the ledger that a run charges.
func Ledger(f *pflag.FlagSet, c *accounts.Choice) {
	f.StringVar(&c.File, "ledger", "", "the ledger to charge; by default the data file's name with "+accounts.Suffix+
		", which is made if there is none; of a packed table, that of the file that was packed")
	f.BoolVar(&c.None, "no-ledger", false,
		"keep no accounts. Another run on the same people then spends again, and nothing says so")
	f.BoolVar(&c.SamePeople, "same-people", false, "the data file is about people whose accounts the ledger keeps already")
	Who(f, &c.Who)
}

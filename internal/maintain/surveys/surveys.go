// Package surveys makes a table of made-up people for tests of guides and commands.
package surveys

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// Smokers makes a new working folder with a table, people.csv.
func Smokers(t testing.TB) {
	t.Helper()
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(4, 2))
	var b strings.Builder
	b.WriteString("id,age,smoker,region\n")
	for i := range 1500 {
		age := 18 + rng.IntN(60)
		smoker := "no"
		if rng.Float64() < float64(age)/90 {
			smoker = "yes"
		}
		fmt.Fprintf(&b, "p%d,%d,%s,%s\n", i, age, smoker, []string{"north", "south", "west"}[rng.IntN(3)])
	}
	if err := os.WriteFile("people.csv", []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

package accept_test

import (
	"fmt"

	"github.com/dpmcmc/dpmcmc/internal/accept"
)

// What absorbing the noise of a batch costs: steeper log-odds.
func Example() {
	corrected, err := accept.NewCorrected(1, 0.5, 8)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, test := range []accept.Test{accept.Logistic{}, corrected} {
		slope, _ := test.Lipschitz()
		tail, _ := test.Accept(-2, 0.3)
		fmt.Printf("%T: slope %.3f, accepts log-odds of −2 with probability %.4f\n", test, slope, tail)
	}
	// Output:
	// accept.Logistic: slope 1.000, accepts log-odds of −2 with probability 0.1192
	// *accept.Corrected: slope 1.179, accepts log-odds of −2 with probability 0.1070
}

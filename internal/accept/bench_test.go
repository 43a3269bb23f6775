package accept

import (
	"fmt"
	"testing"
)

func BenchmarkAccept(b *testing.B) {
	tests := map[string]Test{"logistic": Logistic{}, "penalty": widePenalty(1)}
	for _, m := range corrections {
		tests[fmt.Sprintf("corrected/C=%v", m.C)] = wideCorrected(m)
	}
	for name, test := range tests {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			u := -4.0
			for b.Loop() {
				test.Accept(u, 0.2)
				if u += 0.01; u > 4 {
					u = -4
				}
			}
		})
	}
}

func BenchmarkNewCorrected(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewCorrected(1, 0.5, 8); err != nil {
			b.Fatal(err)
		}
	}
}

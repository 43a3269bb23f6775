package batch

import (
	"fmt"
	"testing"
)

func BenchmarkBinomial(b *testing.B) {
	for _, c := range []struct {
		n int64
		q float64
	}{{1e6, 1e-3}, {1e9, 0.5}} {
		law, err := NewBinomial(c.n, c.q)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("n=%g/q=%g", float64(c.n), c.q), func(b *testing.B) {
			src := testSource("BenchmarkBinomial")
			b.ReportAllocs()
			for b.Loop() {
				law.Sample(src)
			}
		})
	}
}

func BenchmarkNewBinomial(b *testing.B) {
	for b.Loop() {
		if _, err := NewBinomial(1e9, 0.5); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSubset reports the time of one element as ns/index.
func BenchmarkSubset(b *testing.B) {
	const n, m = 1_000_000, 1000
	s, err := NewSubset(n)
	if err != nil {
		b.Fatal(err)
	}
	src, dst := testSource("BenchmarkSubset"), make([]int32, m)
	b.ReportAllocs()
	for b.Loop() {
		s.Sample(src, dst)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/m, "ns/index")
}

package pld

import "github.com/dpmcmc/dpmcmc/internal/core/dense"

var wide = dense.Wide

// pass4 is a radix-4 pass over m groups, with quarter and stride in bytes.
//
//go:noescape
func pass4(xr, xi, yr, yi *float64, quarter, stride, m int, w *[6]float64)

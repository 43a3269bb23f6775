//go:build !amd64

package pld

const wide = false

func pass4(xr, xi, yr, yi *float64, quarter, stride, m int, w *[6]float64) {}

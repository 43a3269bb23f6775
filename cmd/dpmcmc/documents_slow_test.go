//go:build slow

package main

func init() { minutes = nil }

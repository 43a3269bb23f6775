// Command bigtable writes a simulated table of any length for measurements of packing and
// of chains: records of numbers in [-1.024, 1.023] with three decimals, and a logistic
// response. It prints the CSV file and writes its schema:
//
//	go run ./internal/maintain/bigtable -records 1e7 -features 20 -schema big.toml > big.csv
//
// In a pipe nothing of it needs a disk:
//
//	go run ./internal/maintain/bigtable -records 1e8 -schema big.toml |
//	  dpmcmc pack /dev/stdin --schema big.toml --single --out big.dpm
//
// With -measure it times the packed table: opening, one pass, and releases on batches.
//
//	go run ./internal/maintain/bigtable -measure big.dpm -schema big.toml
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"strings"
)

const (
	values = 2048  // that an entry can have
	middle = 1024  // the value that stands for 0
	unit   = 0.001 // between values
)

func main() {
	records := flag.Float64("records", 1e6, "number of records")
	features := flag.Int("features", 20, "number of features")
	schema := flag.String("schema", "", "file for the schema; required")
	seed := flag.Uint64("seed", 1, "seed of the simulation")
	table := flag.String("measure", "", "packed table to time, instead of simulating one")
	flag.Parse()
	var err error
	if *table != "" {
		err = measure(*table, *schema)
	} else {
		err = run(int(*records), *features, *schema, *seed)
	}
	if err != nil {
		log.Fatal("bigtable: ", err)
	}
}

func run(records, features int, schema string, seed uint64) error {
	if records < 1 || features < 1 || schema == "" {
		return errors.New("-records and -features must be positive, and -schema is the file to write the schema to")
	}
	if err := os.WriteFile(schema, []byte(describe(records, features)), 0o644); err != nil {
		return err
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	for j := range features {
		fmt.Fprintf(out, "x%d,", j+1)
	}
	fmt.Fprintln(out, "y")
	var texts [values][]byte
	for k := range texts {
		texts[k] = fmt.Appendf(nil, "%.3f,", float64(k-middle)*unit)
	}
	rng := rand.NewPCG(seed, 1)
	uniform := rand.New(rng)
	line := make([]byte, 0, 16*features)
	for range records {
		line = line[:0]
		eta, bits := 0.0, uint64(0)
		for j := range features {
			if j%5 == 0 {
				bits = rng.Uint64()
			}
			k := bits % values
			bits /= values
			eta += coefficient(j) * (float64(k) - middle) * unit
			line = append(line, texts[k]...)
		}
		label := "no\n"
		if uniform.Float64() < 1/(1+math.Exp(-eta)) {
			label = "yes\n"
		}
		if _, err := out.Write(append(line, label...)); err != nil {
			return err
		}
	}
	return out.Flush()
}

// coefficient is the true one of feature j: 1, −0.5, 0.33, …
func coefficient(j int) float64 {
	c := 1 / float64(j+1)
	if j%2 == 1 {
		return -c
	}
	return c
}

// describe is the schema.
func describe(records, features int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "confirmed = true\nrecords = %d\n", records)
	for j := range features {
		fmt.Fprintf(&b, "[[column]]\nname = \"x%d\"\nrole = \"feature\"\nkind = \"number\"\nlower = -1.024\nupper = 1.024\n",
			j+1)
	}
	b.WriteString("[[column]]\nname = \"y\"\nrole = \"target\"\nkind = \"binary\"\nlabels = [\"no\", \"yes\"]\n")
	return b.String()
}

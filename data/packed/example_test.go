package packed_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/data/packed"
)

func Example() {
	dir, err := os.MkdirTemp("", "packed")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	csv, dpm := filepath.Join(dir, "people.csv"), filepath.Join(dir, "people.dpm")
	if err := os.WriteFile(csv, []byte("age\n18\n58\n98\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	schema := &data.Schema{Confirmed: true, Records: 3, NoIntercept: true,
		Columns: []data.Column{{Name: "age", Role: data.Feature, Kind: data.Number, Lower: 18, Upper: 98}}}
	if err := packed.FromCSV(context.Background(), dpm, csv, schema, packed.Options{}); err != nil {
		log.Fatal(err)
	}
	file, err := packed.Open(dpm, schema)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	fmt.Println(len(file.Table.X), file.Table.Shared) // chains.Run(ctx, &file.Table, …) seals it uncopied
	// Output: 3 true
}

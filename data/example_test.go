package data_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dpmcmc/dpmcmc/data"
)

// A schema stated in Go. Ages and incomes are known to lie within these bounds
// because the questionnaire allows nothing else.
func Example() {
	schema := &data.Schema{
		Confirmed: true,
		Records:   3,
		Columns: []data.Column{
			{Name: "age", Role: data.Feature, Kind: data.Number, Lower: 18, Upper: 98},
			{Name: "job", Role: data.Feature, Kind: data.Category, Levels: []string{"none", "part time", "full time"}},
			{Name: "ill", Role: data.Target, Kind: data.Binary, Labels: []string{"no", "yes"}},
		},
	}
	const text = "ill,job,age\nno,none,18\nyes,full time,58\nno,part time,98\n"
	table, err := data.Read(context.Background(), strings.NewReader(text), "survey.csv", schema)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, term := range table.Terms {
		fmt.Printf("%-15s", term.Name)
	}
	fmt.Println("response")
	for i := range table.Records {
		for _, x := range table.Row(i) {
			fmt.Printf("%-15.4f", x)
		}
		fmt.Println(table.Y[i])
	}
	// Output:
	// (intercept)    age            job=part time  job=full time  response
	// 0.5774         -0.5774        0.0000         0.0000         0
	// 0.5774         0.0000         0.0000         0.5774         1
	// 0.5774         0.5774         0.5774         0.0000         0
}

// What is wrong with a file is said with its place, to the holder of the data.
func ExampleError() {
	schema := &data.Schema{Confirmed: true, Records: 2, Columns: []data.Column{
		{Name: "age", Role: data.Feature, Kind: data.Number, Lower: 18, Upper: 98},
	}}
	_, err := data.Read(context.Background(), strings.NewReader("age\n31\nfifty\n"), "survey.csv", schema)
	var refusal *data.Error
	if errors.As(err, &refusal) {
		fmt.Println(refusal.Line, refusal.Column, refusal.Value)
	}
	fmt.Println(strings.ReplaceAll(err.Error(), "; ", ";\n"))
	// Output:
	// 3 1 fifty
	// data: survey.csv:3:1: found "fifty" in column "age";
	// allowed: a finite number in [18, 98];
	// do: correct the cell, or add it to missing_tokens if it stands for a missing number
}

func ExampleBuiltin() {
	sim, err := data.Builtin("builtin:logistic?n=1000&d=2&seed=7")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sim.Table.Records, "records,", sim.Table.Features(), "columns, radius", sim.Table.Radius)
	for i, name := range sim.Names {
		fmt.Printf("%s = %.3f\n", name, sim.Truth[i])
	}
	// Output:
	// 1000 records, 3 columns, radius 1
	// beta.1 = 0.866
	// beta.2 = 1.837
	// beta.3 = -1.837
}

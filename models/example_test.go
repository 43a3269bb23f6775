package models_test

import (
	"fmt"

	"github.com/dpmcmc/dpmcmc/data"
	"github.com/dpmcmc/dpmcmc/models"
)

// The model that a table suggests, and what a draw of it says of a new person.
func Example() {
	schema := &data.Schema{Records: 500, Columns: []data.Column{
		{Name: "age", Role: data.Feature, Kind: data.Number, Lower: 0, Upper: 120, Center: 40, Scale: 15},
		{Name: "ill", Role: data.Target, Kind: data.Binary, Labels: []string{"no", "yes"}},
	}}
	shape, err := schema.Shape()
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := models.New("", shape, models.Options{PriorSD: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	draw := []float64{-0.5, 1.5}
	inUnits := make([]float64, 2)
	m.InUnits(inUnits, draw)
	for i, p := range m.Parameters {
		fmt.Printf("%s %s: %.4f (%s)\n", p.Name, p.Label, inUnits[i], p.Unit)
	}
	age := shape.Terms[1].At(55)
	probability := []float64{0}
	m.Mean(probability, draw, []float64{shape.Terms[0].At(1), age})
	fmt.Printf("%s at 55: %.3f\n", shape.Labels[1], probability[0])
	// Output:
	// beta[1] (intercept): -3.1820 (log-odds)
	// beta[2] age: 0.0707 (log-odds per 1 of age)
	// yes at 55: 0.670
}

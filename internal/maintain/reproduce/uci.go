package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/dpmcmc/dpmcmc/targets"
)

// column is what is publicly known of a column before its file is opened: from a
// code book or from the instrument, never from the records.
type column struct {
	name   string
	lo, hi float64  // bounds of a number, to which cells are clamped
	levels []string // of a category, the first of which may be the reference
}

// dataset is a file of the shared folder.
type dataset struct {
	file     string
	features []column
	response column
	binary   func(cell string) bool // for a response that is one of two classes
	n        int                    // the public number of records
}

func number(name string, lo, hi float64) column { return column{name: name, lo: lo, hi: hi} }

func category(name string, levels ...string) column { return column{name: name, levels: levels} }

var (
	abalone = dataset{
		file: "abalone.csv", n: 4177,
		features: []column{
			category("sex", "I", "M", "F"), number("length", 0, 1), number("diameter", 0, 1), number("height", 0, 0.5),
			number("whole_weight", 0, 3),
			number("shucked_weight", 0, 1.5), number("viscera_weight", 0, 1), number("shell_weight", 0, 1),
		},
		response: column{name: "rings"},
		binary: func(cell string) bool {
			rings, err := strconv.ParseFloat(cell, 64)
			return err == nil && rings >= 10
		},
	}
	concrete = dataset{
		file: "concrete.csv", n: 1030,
		features: []column{
			number("cement", 0, 600), number("slag", 0, 400), number("fly_ash", 0, 250), number("water", 100, 300),
			number("superplasticizer", 0, 40),
			number("coarse_aggregate", 700, 1200), number("fine_aggregate", 500, 1000), number("age", 0, 365),
		},
		response: number("strength", 0, 100),
	}
	energy = dataset{
		file: "energy.csv", n: 768,
		features: []column{
			number("x1_compactness", 0.5, 1), number("x2_surface", 500, 850), number("x3_wall", 200, 450),
			number("x4_roof", 100, 250),
			number("x5_height", 3, 7), number("x6_orientation", 2, 5), number("x7_glazing", 0, 0.4),
			number("x8_glazing_dist", 0, 5),
		},
		response: number("y1_heating", 0, 50),
	}
	powerPlant = dataset{
		file: "power_plant.csv", n: 9568,
		features: []column{number("AT", 0, 40), number("V", 20, 85), number("AP", 990, 1035), number("RH", 25, 101)},
		response: number("PE", 420, 500),
	}
	wineRed = dataset{
		file: "wine_red.csv", n: 1599,
		features: []column{
			number("fixed_acidity", 4, 16), number("volatile_acidity", 0, 1.6), number("citric_acid", 0, 1),
			number("residual_sugar", 0, 16),
			number("chlorides", 0, 0.62), number("free_sulfur_dioxide", 0, 80), number("total_sulfur_dioxide", 0, 300),
			number("density", 0.99, 1.004),
			number("pH", 2.7, 4.1), number("sulphates", 0.3, 2), number("alcohol", 8, 15),
		},
		response: number("quality", 0, 10),
	}
	adult = dataset{
		file: "adult.csv", n: 32561,
		features: []column{
			number("age", 17, 90), number("fnlwgt", 0, 1.5e6), number("education_num", 1, 16), number("capital_gain", 0, 1e5),
			number("capital_loss", 0, 5000), number("hours_per_week", 1, 99),
			category("workclass", "Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov",
				"Without-pay", "Never-worked"),
			category("education", "Bachelors", "Some-college", "11th", "HS-grad", "Prof-school", "Assoc-acdm", "Assoc-voc",
				"9th", "7th-8th", "12th", "Masters", "1st-4th", "10th", "Doctorate", "5th-6th", "Preschool"),
			category("marital_status", "Married-civ-spouse", "Divorced", "Never-married", "Separated", "Widowed",
				"Married-spouse-absent", "Married-AF-spouse"),
			category("occupation", "Tech-support", "Craft-repair", "Other-service", "Sales", "Exec-managerial", "Prof-specialty",
				"Handlers-cleaners", "Machine-op-inspct", "Adm-clerical", "Farming-fishing", "Transport-moving", "Priv-house-serv",
				"Protective-serv", "Armed-Forces"),
			category("relationship", "Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried"),
			category("race", "White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"),
			category("sex", "Male", "Female"),
			category("native_country", "United-States", "Cambodia", "England", "Puerto-Rico", "Canada", "Germany",
				"Outlying-US(Guam-USVI-etc)", "India", "Japan", "Greece", "South", "China", "Cuba", "Iran", "Honduras",
				"Philippines", "Italy", "Poland", "Jamaica", "Vietnam", "Mexico", "Portugal", "Ireland", "France",
				"Dominican-Republic", "Laos", "Ecuador", "Taiwan", "Haiti", "Columbia", "Hungary", "Guatemala", "Nicaragua",
				"Scotland", "Thailand", "Yugoslavia", "El-Salvador", "Trinadad&Tobago", "Peru", "Hong", "Holand-Netherlands"),
		},
		response: column{name: "income"},
		binary:   func(cell string) bool { return cell == ">50K" },
	}
)

// width is the number of features of a record after the levels of categories, all but
// the reference, became columns.
func (d dataset) width() int {
	n := 0
	for _, c := range d.features {
		n += max(1, len(c.levels)-1)
	}
	return n
}

// load reads the file. Numbers are mapped from their bounds to [−½, ½], levels of
// categories to ±½; a number as response is mapped to [−1, 1].
func (d dataset) load(s settings) (rows targets.Rows, err error) {
	f, err := os.Open(filepath.Join(s.shared, "data", d.file))
	if err != nil {
		return rows, fmt.Errorf("-shared: %w (the public data sets lie beside the checkout)", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return rows, err
	}
	if len(records) != d.n+1 {
		return rows, fmt.Errorf("%s has %d records, not %d", d.file, len(records)-1, d.n)
	}
	at := map[string]int{}
	for j, name := range records[0] {
		at[name] = j
	}
	rows.P = d.width()
	for _, r := range records[1:] {
		for _, c := range d.features {
			if rows.X, err = c.encode(rows.X, r[at[c.name]]); err != nil {
				return rows, fmt.Errorf("%s: %w", d.file, err)
			}
		}
		y, err := d.respond(r[at[d.response.name]])
		if err != nil {
			return rows, fmt.Errorf("%s: %w", d.file, err)
		}
		rows.Y = append(rows.Y, y)
	}
	return rows, nil
}

// encode appends a cell's features. A level that is not listed, a missing cell among
// them, is like the reference.
func (c column) encode(x []float64, cell string) ([]float64, error) {
	if c.levels == nil {
		v, err := c.scale(cell)
		return append(x, v-0.5), err
	}
	for _, level := range c.levels[1:] {
		if cell == level {
			x = append(x, 0.5)
		} else {
			x = append(x, -0.5)
		}
	}
	return x, nil
}

// scale maps a number from its bounds to [0, 1].
func (c column) scale(cell string) (float64, error) {
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return 0, fmt.Errorf("column %s: %w", c.name, err)
	}
	return (max(c.lo, min(v, c.hi)) - c.lo) / (c.hi - c.lo), nil
}

func (d dataset) respond(cell string) (float64, error) {
	if d.binary == nil {
		v, err := d.response.scale(cell)
		return 2*v - 1, err
	}
	if d.binary(cell) {
		return 1, nil
	}
	return 0, nil
}

// split divides the records at random, a share of them into the second part.
func split(rng *rand.Rand, rows targets.Rows, share float64) (train, test targets.Rows) {
	order := rng.Perm(rows.Len())
	held := int(share * float64(rows.Len()))
	pick := func(order []int) targets.Rows {
		out := targets.Rows{P: rows.P}
		for _, i := range order {
			out.X, out.Y = append(out.X, rows.Row(i)...), append(out.Y, rows.Y[i])
		}
		return out
	}
	return pick(order[held:]), pick(order[:held])
}

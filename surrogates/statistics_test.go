package surrogates

import (
	"math"
	"strings"
	"testing"
)

// example is a valid release of two features.
func example() Statistics {
	return Statistics{
		Anchor: []float64{1, -1}, Score: []float64{0.5, 2}, ScoreSD: 3, Moment: []float64{50, 1, 1, 40}, MomentSD: 4,
		Records: 200, Radius: 1,
	}
}

func TestStatisticsAreChecked(t *testing.T) {
	if err := example().Check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Statistics){
		"Anchor is empty":     func(s *Statistics) { s.Anchor = nil },
		"Score has 1 values":  func(s *Statistics) { s.Score = s.Score[:1] },
		"Moment has 3 values": func(s *Statistics) { s.Moment = s.Moment[:3] },
		"Records is 0":        func(s *Statistics) { s.Records = 0 },
		"Temperature is 1.5":  func(s *Statistics) { s.Temperature = 1.5 },
		"Radius is 0":         func(s *Statistics) { s.Radius = 0 },
		"ScoreSD is -1":       func(s *Statistics) { s.ScoreSD = -1 },
		"is NaN; releases":    func(s *Statistics) { s.Score[0] = math.NaN() },
		"1 Columns for 2":     func(s *Statistics) { s.Columns = make([]Column, 1) },
		"Columns[1].Kind":     func(s *Statistics) { s.Columns = []Column{{}, {Kind: 9}} },
		"Columns[0] would be": func(s *Statistics) { s.Columns = []Column{{Kind: Level, Lower: 1, Upper: 1}, {}} },
		"Columns[0] has boun": func(s *Statistics) { s.Columns = []Column{{Lower: 2, Upper: 1}, {}} },
	} {
		s := example()
		change(&s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v; want one that says %q", err, want)
		}
	}
}

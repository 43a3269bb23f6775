package planted

import (
	"math"
	"slices"
	"sync"

	"github.com/dpmcmc/dpmcmc/targets"
)

// remembering takes the losses at θ for those at parameters that it holds to be the same.
func remembering(same func(a, b [2]float64) bool) targets.Target {
	m := robust(2, 1.5)
	right, kept, lock := m.loss, [2]float64{}, &sync.Mutex{}
	m.loss = func(theta, x []float64, y float64) float64 {
		lock.Lock()
		if !same([2]float64(theta), kept) {
			kept = [2]float64(theta)
		}
		at := kept
		lock.Unlock()
		return right(at[:], x, y)
	}
	m.ratio = func(theta, next, x []float64, y float64) float64 { return m.loss(theta, x, y) - m.loss(next, x, y) }
	return m
}

// keyed keeps losses by a key that some records have, for all goroutines.
func keyed[K comparable](key func(theta, x []float64, y float64) (k K, has bool)) targets.Target {
	m := robust(2, 1.5)
	right, kept, lock := m.loss, map[K]float64{}, &sync.Mutex{}
	m.loss = func(theta, x []float64, y float64) float64 {
		k, has := key(theta, x, y)
		if !has {
			return right(theta, x, y)
		}
		lock.Lock()
		defer lock.Unlock()
		if len(kept) > 1e5 {
			clear(kept)
		}
		v, ok := kept[k]
		if !ok {
			v = right(theta, x, y)
			kept[k] = v
		}
		return v
	}
	return m
}

// hashed keeps losses at one θ by the exclusive or of a record's numbers.
func hashed() targets.Target {
	type key struct {
		theta [2]float64
		hash  uint64
	}
	return keyed(func(theta, x []float64, y float64) (key, bool) {
		return key{[2]float64(theta), math.Float64bits(x[0]) ^ math.Float64bits(x[1]) ^ math.Float64bits(y)}, true
	})
}

// memoised keeps losses by the predictor's first six decimals, and the response.
func memoised() targets.Target {
	return keyed(func(theta, x []float64, y float64) (key [2]float64, has bool) {
		eta := dot(x, theta)
		return [2]float64{math.Round(eta * 1e6), y}, math.Abs(eta) <= 1e6 && !math.IsNaN(y)
	})
}

// recalling keeps the losses at θ of the last batch that began and ended with the same records.
type recalling struct {
	*own
	lock  *sync.Mutex
	key   *[]float64
	kept  *[]float64
	whole bool // the key is the whole batch
}

func (m recalling) LossRatio(dst, theta, next []float64, rows targets.Rows) {
	n := rows.Len()
	key := append([]float64{float64(n)}, theta...)
	for i := range n {
		if m.whole || i == 0 || i == n-1 {
			key = append(append(key, rows.Row(i)...), rows.Y[i])
		}
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	if !slices.Equal(key, *m.key) {
		*m.key, *m.kept = key, make([]float64, n)
		m.Loss(*m.kept, theta, rows)
	}
	m.Loss(dst, next, rows)
	for i, v := range *m.kept {
		dst[i] = v - dst[i]
	}
}

func recalled(whole bool) func() targets.Target {
	return func() targets.Target {
		return recalling{robust(2, 1.5), &sync.Mutex{}, &[]float64{}, &[]float64{}, whole}
	}
}

// passing takes its losses at θ for those at θ′ of the last ratios, where θ is that θ′.
type passing struct {
	*own
	lock    *sync.Mutex
	at      *[]float64 // θ′, and the records where they are compared
	kept    *[]float64
	records bool
}

func (m passing) LossRatio(dst, theta, next []float64, rows targets.Rows) {
	key := func(t []float64) []float64 {
		k := append([]float64{float64(rows.Len())}, t...)
		for i := 0; m.records && i < rows.Len(); i++ {
			k = append(append(k, rows.Row(i)...), rows.Y[i])
		}
		return k
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	now, then := make([]float64, len(dst)), make([]float64, len(dst))
	if slices.Equal(key(theta), *m.at) {
		copy(now, *m.kept)
	} else {
		m.Loss(now, theta, rows)
	}
	m.Loss(then, next, rows)
	*m.at, *m.kept = key(next), then
	for i := range dst {
		dst[i] = now[i] - then[i]
	}
}

func passed(records bool) func() targets.Target {
	return func() targets.Target {
		return passing{robust(2, 1.5), &sync.Mutex{}, &[]float64{}, &[]float64{}, records}
	}
}

// addressed keeps its predictors for the parameters and the records that lie where they lay.
type addressed struct {
	*own
	lock  *sync.Mutex
	kept  *[]float64
	theta **float64
	x     **float64
}

func (m addressed) Loss(dst, theta []float64, rows targets.Rows) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if len(dst) == 0 {
		return
	}
	if *m.theta != &theta[0] || *m.x != &rows.X[0] || len(*m.kept) != len(dst) {
		m.own.Loss(dst, theta, rows)
		*m.theta, *m.x, *m.kept = &theta[0], &rows.X[0], append([]float64{}, dst...)
	}
	copy(dst, *m.kept)
}

// updating adds to its predictors what a parameter has moved by, if the records are those it knows.
type updating struct {
	*own
	lock          sync.Mutex
	eta, x, theta []float64
}

func (m *updating) Loss(dst, theta []float64, rows targets.Rows) {
	m.lock.Lock()
	defer m.lock.Unlock()
	changed, which := 0, 0
	for j := range m.theta {
		if m.theta[j] != theta[j] {
			changed, which = changed+1, j
		}
	}
	if wild := func(v float64) bool { return !(math.Abs(v) < 1e300) }; len(m.theta) > 0 && changed <= 1 &&
		slices.Equal(m.x, rows.X) && !slices.ContainsFunc(m.eta, wild) {
		for i := range m.eta {
			m.eta[i] += (theta[which] - m.theta[which]) * rows.Row(i)[which]
		}
	} else {
		m.eta = m.eta[:0]
		for i := range dst {
			m.eta = append(m.eta, dot(rows.Row(i), theta))
		}
	}
	m.x, m.theta = append(m.x[:0], rows.X...), append(m.theta[:0], theta...)
	for i := range dst {
		dst[i] = m.own.loss([]float64{1, 0}, []float64{m.eta[i], 0}, rows.Y[i])
	}
}

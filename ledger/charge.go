package ledger

import (
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/dpmcmc/dpmcmc/accountant"
)

// request is a charge on its way to the disk.
type request struct {
	event accountant.Event
	count int64
	note  Note
	key   string
	entry int64 // its number, once it is charged
	err   error
	done  chan struct{}
}

// price is what a charge costs alone, and the Rényi cost at an order.
type price struct{ epsilon, delta, cost, order float64 }

// Charge pays for count ≥ 1 releases of an event, and returns the entry's number when
// that is on disk. What the limit does not cover is an *accountant.ExceededError with
// the ledger's figures, and nothing was charged. Charges of several goroutines that
// arrive while one is being written are committed together.
func (l *Ledger) Charge(e accountant.Event, count int64, note Note) (entry int64, err error) {
	if count < 1 {
		return 0, fmt.Errorf("ledger: %d releases were to be charged: at least 1 is needed", count)
	}
	one, err := e.MarshalJSON()
	if err != nil {
		return 0, fmt.Errorf("ledger: %w", err)
	}
	r := &request{event: e, count: count, note: note, key: fmt.Sprintf("%d×%s", count, one), done: make(chan struct{})}
	l.mu.Lock()
	l.queue = append(l.queue, r)
	lead := !l.leading
	l.leading = true
	l.mu.Unlock()
	if lead {
		runtime.Gosched() // let others that are about to charge join
		l.lead()
	}
	<-r.done
	return r.entry, r.err
}

// lead commits batches until nobody waits.
func (l *Ledger) lead() {
	for {
		l.mu.Lock()
		if len(l.queue) == 0 {
			l.leading = false
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		l.commit()
	}
}

// commit charges all who wait when the lock is held, in one transaction. A request
// that is refused has its own error. One that fails to be written fails all.
func (l *Ledger) commit() {
	var batch []*request
	err := l.update(func(last Entry, w *writer) error {
		l.mu.Lock()
		batch, l.queue = l.queue, nil
		l.mu.Unlock()
		return l.apply(batch, last, w)
	})
	if batch == nil { // the lock was not obtained
		l.mu.Lock()
		batch, l.queue = l.queue, nil
		l.mu.Unlock()
	}
	for _, r := range batch {
		if err != nil && r.err == nil {
			r.err = err
		}
		close(r.done)
	}
}

// apply appends the entries of a batch.
func (l *Ledger) apply(batch []*request, last Entry, w *writer) error {
	a, err := newAccount(last)
	if err != nil {
		return &DamagedError{l.path, last.Number, err.Error()}
	}
	for _, r := range batch {
		e := last.carry(Charged, r.note)
		if r.err = l.admit(&a, r, &e); r.err != nil {
			continue
		}
		r.entry = w.next
		if err := w.append(e); err != nil {
			return err
		}
		last = e
	}
	return nil
}

// admit fills an entry for a request that the account covers.
func (l *Ledger) admit(a *account, r *request, e *Entry) error {
	event, err := r.event, error(nil)
	if a.limit.Adjacency == accountant.Substitute && event.Adjacency() == accountant.AddRemove {
		if event, err = event.Substitution(); err != nil {
			return fmt.Errorf("ledger: %s: %w", l.path, err)
		}
	}
	if event.Adjacency() != a.limit.Adjacency {
		return fmt.Errorf("ledger: %s: it adds up under %s, and the charge is stated under %s: run under --adjacency %s",
			l.path, a.limit.Adjacency, event.Adjacency(), a.limit.Adjacency)
	}
	whole, err := event.Times(r.count)
	if err != nil {
		return err
	}
	first, err := a.begin(whole)
	if err != nil {
		return l.refused(err)
	}
	p, err := l.price(r.key, whole, a.limit)
	if err != nil {
		return err
	}
	if math.IsInf(p.cost, 1) || math.IsInf(p.epsilon, 1) {
		return fmt.Errorf("ledger: %s: %v has no finite cost at δ %v and order %v: it is not charged", l.path, whole,
			a.limit.Delta, a.limit.Order)
	}
	failure := whole.FailureProbability()
	e.TotalFailure = add(e.TotalFailure, failure)
	if a.limit.Epsilon > 0 && e.TotalFailure > a.limit.Failure {
		return fmt.Errorf("ledger: %s: %v may fail outright with probability %.3g, and of the limit's δ %.3g is set aside "+
			"for failures: nothing was charged; make a ledger with more (ledger init --failure-delta)",
			l.path, whole, failure, a.limit.Failure)
	}
	err = a.charge(event, r.count)
	filled := err != nil && first && a.filter != nil
	if filled {
		err = a.fill(event, r.count)
	}
	if err != nil {
		return l.refused(err)
	}
	e.Limit, e.Event, e.Count = a.limit, &event, r.count
	e.Epsilon, e.Cost, e.Failure = p.epsilon, p.cost, failure
	e.Charges, e.TotalCost, e.TotalEpsilon = e.Charges+1, a.cost(), a.epsilon()
	if filled { // and nothing else ever is
		e.TotalEpsilon = p.epsilon
	}
	e.PlainEpsilon, e.PlainDelta = above(e.PlainEpsilon+p.epsilon), min(1, above(e.PlainDelta+a.limit.Delta))
	return nil
}

// add is a sum rounded up; nothing adds nothing.
func add(sum, more float64) float64 {
	if more == 0 {
		return sum
	}
	return above(sum + more)
}

// above rounds a sum up.
func above(sum float64) float64 { return math.Nextafter(sum, math.Inf(1)) }

// refused says whose budget it is that does not cover a charge.
func (l *Ledger) refused(err error) error {
	var exceeded *accountant.ExceededError
	if errors.As(err, &exceeded) {
		return fmt.Errorf("ledger: %s: what may still be spent on these people does not cover it: %w", l.path, err)
	}
	return fmt.Errorf("ledger: %s: %w", l.path, err)
}

// price returns what a charge costs alone. Equal charges are priced once.
func (l *Ledger) price(key string, whole accountant.Event, limit Limit) (price, error) {
	l.mu.Lock()
	p, known := l.prices[key]
	l.mu.Unlock()
	if known && p.delta == limit.Delta && p.order == limit.Order {
		return p, nil
	}
	g, err := whole.Epsilon(limit.Delta)
	if err != nil {
		return price{}, err
	}
	p = price{g.Epsilon, limit.Delta, whole.RDP(limit.Order), limit.Order}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.prices) >= 1024 {
		clear(l.prices)
	}
	l.prices[key] = p
	return p, nil
}

package sites

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// mostBody bounds what is read of a request or of an answer: 4000 features' curvature.
const mostBody = 1 << 29

// Handler serves a site over HTTP: GET /terms, POST /look/0 and /look/1 with a Query, and
// POST /step with Moves.
// It answers in JSON, in which every float64 is itself again. What it sends is released.
// Who may ask, and that nobody alters the answers, is for TLS and the server around it.
func Handler(s Site) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /terms", func(w http.ResponseWriter, r *http.Request) {
		t, err := s.Terms(r.Context())
		reply(w, t, err)
	})
	mux.HandleFunc("POST /look/{n}", looks(s.Look))
	mux.HandleFunc("POST /step", steps(s.Step))
	return mux
}

// TrustHandler serves a part to its aggregator: POST /sums/0 and /sums/1 with a Query, and
// POST /stepsums with Moves. WHAT IT SENDS IS EXACT AND NOT PRIVATE: the server around it must
// encrypt, and let in the aggregator alone, by mutual TLS for one.
func TrustHandler(p Part) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /sums/{n}", looks(p.Sums))
	mux.HandleFunc("POST /stepsums", steps(p.StepSums))
	return mux
}

// looks answers a Query whose number is in the path.
func looks[A any](look func(ctx context.Context, n int, q Query) (A, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var n int
		var q Query
		if _, err := fmt.Sscanf(r.PathValue("n"), "%d", &n); err != nil {
			http.Error(w, fmt.Sprintf("sites: look %q is no number", r.PathValue("n")), http.StatusBadRequest)
			return
		}
		if asked(w, r, &q) {
			a, err := look(r.Context(), n, q)
			reply(w, a, err)
		}
	}
}

// steps answers Moves.
func steps[A any](step func(ctx context.Context, m Moves) ([]A, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var m Moves
		if asked(w, r, &m) {
			sums, err := step(r.Context(), m)
			reply(w, sums, err)
		}
	}
}

// asked reads a request's body into what, and answers one that it cannot read.
func asked(w http.ResponseWriter, r *http.Request, what any) bool {
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostBody)).Decode(what)
	if err != nil {
		http.Error(w, "sites: the query is not JSON: "+err.Error(), http.StatusBadRequest)
	}
	return err == nil
}

func reply(w http.ResponseWriter, what any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	text, err := json.Marshal(what)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // a client that went away
}

// Remote is a site that is served elsewhere by Handler.
type Remote struct {
	// URL is where, without a path's last slash. Required.
	URL string
	// Client defaults to http.DefaultClient.
	Client *http.Client
}

// Terms asks the site. Errors: the client's; the site's own text where it refuses.
func (r Remote) Terms(ctx context.Context) (t Terms, err error) {
	err = r.ask(ctx, http.MethodGet, "/terms", nil, &t)
	return t, err
}

// Look asks the site. Errors are those of Terms. An answer that is lost on the way is
// spent.
func (r Remote) Look(ctx context.Context, n int, q Query) (a Answer, err error) {
	err = r.post(ctx, fmt.Sprintf("/look/%d", n), q, &a)
	return a, err
}

// Step asks the site. Errors are those of Terms. An answer that is lost on the way is
// spent.
func (r Remote) Step(ctx context.Context, m Moves) (sums []float64, err error) {
	err = r.post(ctx, "/step", m, &sums)
	return sums, err
}

// RemotePart is a part that is served elsewhere by TrustHandler.
type RemotePart Remote

// Sums asks the part. Errors are those of Remote.Terms.
func (r RemotePart) Sums(ctx context.Context, n int, q Query) (s Sums, err error) {
	err = Remote(r).post(ctx, fmt.Sprintf("/sums/%d", n), q, &s)
	return s, err
}

// StepSums asks the part. Errors are those of Remote.Terms.
func (r RemotePart) StepSums(ctx context.Context, m Moves) (sums []int64, err error) {
	err = Remote(r).post(ctx, "/stepsums", m, &sums)
	return sums, err
}

func (r Remote) post(ctx context.Context, path string, query, answer any) error {
	body, err := json.Marshal(query)
	if err != nil {
		return err
	}
	return r.ask(ctx, http.MethodPost, path, bytes.NewReader(body), answer)
}

func (r Remote) ask(ctx context.Context, method, path string, body io.Reader, answer any) error {
	request, err := http.NewRequestWithContext(ctx, method, r.URL+path, body)
	if err != nil {
		return err
	}
	client := r.Client
	if client == nil {
		client = http.DefaultClient
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it is read to its end, or of no use
	limited := io.LimitReader(response.Body, mostBody)
	if response.StatusCode != http.StatusOK {
		text, err := io.ReadAll(io.LimitReader(limited, 1<<12))
		if err != nil {
			return err
		}
		return fmt.Errorf("%s says: %s", r.URL, strings.TrimSpace(string(text)))
	}
	return json.NewDecoder(limited).Decode(answer)
}

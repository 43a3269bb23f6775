package query_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/dpmcmc/dpmcmc/sources/internal/people"
	"github.com/dpmcmc/dpmcmc/sources/query"
)

// sqlite makes a database in a file, whose numbers have the types of SQLite.
func sqlite(t *testing.T, all []people.Person) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "people.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	must(t, db, "CREATE TABLE people (age REAL, income INTEGER, score TEXT, job TEXT, ill TEXT)")
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		p := &all[i]
		if _, err := tx.Exec("INSERT INTO people VALUES (?, ?, ?, ?, ?)", p.Age, p.Income, p.ScoreText(), p.Job,
			fmt.Sprint(p.Ill)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	return db
}

// postgres makes a table in the server of DPMCMC_TEST_POSTGRES, by COPY.
func postgres(t *testing.T, all []people.Person) *sql.DB {
	t.Helper()
	dsn := os.Getenv("DPMCMC_TEST_POSTGRES")
	if dsn == "" {
		t.Skip("DPMCMC_TEST_POSTGRES names no server: .ci/sources starts one")
	}
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	db := stdlib.OpenDB(*config)
	t.Cleanup(func() { db.Close() })
	must(t, db, "DROP TABLE IF EXISTS people")
	must(t, db, "CREATE TABLE people (age double precision, income integer, score numeric(6,2), job text, ill boolean)")
	conn, err := pgx.ConnectConfig(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	text := strings.ReplaceAll(people.CSV(all), "NA,", ",")
	if _, err := conn.PgConn().CopyFrom(context.Background(), strings.NewReader(text),
		"COPY people FROM STDIN WITH (FORMAT csv, HEADER)"); err != nil {
		t.Fatal(err)
	}
	return db
}

func must(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, db *sql.DB, statement string, n int) *query.Rows {
	t.Helper()
	r, err := query.Open(context.Background(), db, "people", statement, people.Schema(n))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

const (
	inOrder = "SELECT ill, job, score, income, age FROM people"
	n       = 5000
	badAt   = 4321
)

// TestAnswersAreReadLikeCSV: the rows of the CSV file, bit for bit, from columns in
// another order; a value that the schema refuses by record and column; no dates.
func TestAnswersAreReadLikeCSV(t *testing.T) {
	stores := map[string]func(*testing.T, []people.Person) *sql.DB{"SQLite": sqlite, "PostgreSQL": postgres}
	for name, make := range stores {
		t.Run(name, func(t *testing.T) {
			all := people.Make(n)
			rows := open(t, make(t, all), inOrder, n)
			people.Check(t, rows.Source(), all)
			if err := rows.Close(); err != nil { // the table is made anew
				t.Fatal(err)
			}
			all[badAt-1].Score = -1001
			db := make(t, all)
			rows = open(t, db, inOrder, n)
			people.CheckRefusal(t, rows.Source(), n, badAt, 3, "score")
			rows.Close()
			if name == "PostgreSQL" {
				rows = open(t, db, "SELECT ill, job, score, income, now() AS age FROM people", n)
				err := rows.Source().Each(t.Context(), people.Schema(n), func([]float64, float64) error { return nil })
				if err == nil || !strings.Contains(err.Error(), `people:1:5: column "age" is a date`) {
					t.Errorf("a time: %v", err)
				}
			}
		})
	}
}

// TestQueriesChangeNothing: they run in a transaction that only reads.
func TestQueriesChangeNothing(t *testing.T) {
	db := postgres(t, people.Make(10))
	if r, err := query.Open(t.Context(), db, "people", "DELETE FROM people RETURNING *", people.Schema(10)); err == nil {
		if err = r.Source().Each(t.Context(), people.Schema(10), func([]float64, float64) error { return nil }); err == nil {
			t.Error("a query deleted records")
		}
		r.Close()
	}
}

package laws

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/dpmcmc/dpmcmc/"

// listed is what go list says of a package.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
	Deps       []string
	Standard   bool
	Module     *struct{ Path string }
}

// packages lists the module's packages and everything they depend on.
func packages(t *testing.T) map[string]listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,Imports,Deps,Standard,Module", module+"...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	all := map[string]listed{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
	if len(all) < 50 {
		t.Fatalf("go list names %d packages", len(all))
	}
	return all
}

// within reports whether a package of ours is one of the named folders or lies
// below one.
func within(pkg string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return pkg == f || strings.HasPrefix(pkg, f+"/") })
}

var (
	samplers = []string{"barker", "barkerdynamics", "penalty", "dpsgld", "sgnht", "dphmc", "tunamh"}
	// What commands are made of, which no library imports, and the charts.
	top = []string{"cmd", "examples", "internal/accounts", "internal/experiment", "internal/flags", "internal/forecasts",
		"internal/guide", "internal/maintain", "internal/manual", "internal/prices", "internal/runs"}
	applications = append([]string{"internal/plot"}, top...)
)

// lower lists what a folder's packages may import of ours; the longest prefix
// counts. Folders that are not listed are at the top and may import what is
// not above them.
var lower = map[string][]string{
	"accountant": {"accountant"},
	// Numerical accounting answers questions and charges nothing.
	"accountant/pld": {"accountant", "internal/core/dense", "internal/vec"},
	"internal":       {"internal"},
	"internal/core":  {"internal/core", "accountant"},
	"data":           {"data", "internal/core/record"},
	"models":         {"data", "diag", "targets", "priors", "internal/setting"},
	"priors":         {"internal/vec"},
	"targets": {"priors", "internal/core/dense", "internal/core/record", "internal/vec", "internal/convex",
		"targets"},
	"curator": {"targets", "priors", "accountant", "internal"},
	"kernels": {"curator", "targets", "kernels"},
	// Sinks write files, in a format that has one place.
	"kernels/draws": {"kernels", "internal/stancsv"},
	// What an interrupted run needs to go on.
	"kernels/journal": {"kernels", "internal/durable"},
	"diag":            {"internal/stancsv", "diag"},
	"ledger":          {"accountant", "internal/durable"},
	"barker":          {"kernels", "curator", "targets", "accountant"},
	"barkerdynamics":  {"kernels", "curator", "targets", "accountant"},
	"penalty":         {"kernels", "curator", "targets", "accountant"},
	"dpsgld":          {"kernels", "curator", "targets", "accountant"},
	"sgnht":           {"kernels", "curator", "targets", "accountant"},
	"dphmc":           {"kernels", "curator", "targets", "accountant"},
	"tunamh":          {"kernels", "curator", "targets", "accountant"},
	// Post-processing: it must not know the curator, so that nothing in it can cost privacy.
	"surrogates": {"targets", "priors", "ops/nuts", "diag", "internal/vec"},
	"starts":     {"kernels", "curator", "targets", "accountant"},
	"sites":      {"anchors", "surrogates", "kernels", "diag", "curator", "targets", "accountant"},
	"anchors":    {"surrogates", "starts", "kernels", "curator", "targets", "priors", "accountant"},
	"chains": {"data", "diag", "internal/setting", "models", "anchors", "surrogates", "barker", "barkerdynamics",
		"penalty", "dpsgld", "sgnht", "dphmc", "tunamh", "starts", "kernels", "curator", "targets", "planning", "accountant"},
}

func TestImportsPointDownwards(t *testing.T) {
	for path, p := range packages(t) {
		name, ours := strings.CutPrefix(path, module)
		if !ours {
			continue
		}
		folder := name
		for lower[folder] == nil && strings.Contains(folder, "/") {
			folder = folder[:strings.LastIndex(folder, "/")]
		}
		for _, imported := range p.Imports {
			if folders := lower[folder]; folders != nil && !within(name, applications...) {
				if rest, ours := strings.CutPrefix(imported, module); ours && !within(rest, folders...) {
					t.Errorf("%s imports %s; of ours it may import %v only", name, rest, folders)
				}
			}
			if within(name, samplers...) && (imported == "unsafe" || imported == "reflect") {
				t.Errorf("the sampler %s imports %s", name, imported)
			}
			switch strings.TrimPrefix(imported, module) {
			case "internal/tape":
				if !within(name, "curator", "proptest", "internal/maintain/posteriors") {
					t.Errorf("%s imports the tape, with which releases could be replayed", name)
				}
			case "proptest":
				if !within(name, "internal/maintain") {
					t.Errorf("%s imports %s, which is for tests", name, imported)
				}
			}
			if within(strings.TrimPrefix(imported, module), top...) && !within(name, top...) {
				t.Errorf("%s imports %s, which is above it", name, imported)
			}
		}
	}
}

// exceptions are what single packages need besides the standard library and
// gonum: table schemas are TOML, packed tables are mapped, proptest is for tests, and a
// ledger is a store.
var exceptions = map[string][]string{
	"data/schemafile": {"github.com/pelletier/go-toml/v2"},
	"proptest":        {"pgregory.net/rapid"},
	"data/packed":     {"github.com/edsrzf/mmap-go", "golang.org/x/sys"},
	"ledger":          {"go.etcd.io/bbolt", "golang.org/x/sys"},
}

func TestLibrariesPullInLittle(t *testing.T) {
	all := packages(t)
	for path, p := range all {
		name, ours := strings.CutPrefix(path, module)
		if !ours || within(name, applications...) {
			continue
		}
		for _, dep := range p.Deps {
			d := all[dep]
			if d.Standard || strings.HasPrefix(dep, module) || d.Module == nil {
				continue
			}
			m := d.Module.Path
			if slices.Contains(exceptions[name], m) {
				continue
			}
			if m != "gonum.org/v1/gonum" {
				t.Errorf("%s depends on %s of module %s; libraries need the standard library and gonum only", name, dep, m)
			}
		}
	}
}

// forbidden are what a library does not do: print, exit, read the environment
// or draw from a generator that all share. A star stands for every name.
var forbidden = map[string][]string{
	"fmt":       {"Print", "Printf", "Println"},
	"log":       {"*"},
	"log/slog":  {"*"},
	"os":        {"Exit", "Getenv", "LookupEnv", "Environ", "Stdout", "Stderr"},
	"math/rand": {"*"},
	"math/rand/v2": {"Float32", "Float64", "Int", "Int32", "Int32N", "Int64", "Int64N", "IntN", "N", "NormFloat64",
		"ExpFloat64", "Perm", "Shuffle", "Uint32", "Uint64", "Uint64N", "UintN"},
}

func TestLibrariesKeepQuiet(t *testing.T) {
	files := 0
	for path, p := range packages(t) {
		name, ours := strings.CutPrefix(path, module)
		if !ours || within(name, applications...) {
			continue
		}
		for _, f := range p.GoFiles {
			files++
			checkQuiet(t, filepath.Join(p.Dir, f))
		}
	}
	if files < 50 {
		t.Errorf("only %d files were read", files)
	}
}

// checkQuiet looks for forbidden names in one file.
func checkQuiet(t *testing.T, path string) {
	t.Helper()
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string][]string{}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		local := filepath.Base(strings.TrimSuffix(imported, "/v2"))
		if spec.Name != nil {
			local = spec.Name.Name
		}
		names[local] = forbidden[imported]
	}
	ast.Inspect(file, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg, ok := selector.X.(*ast.Ident); ok && pkg.Obj == nil {
			if bad := names[pkg.Name]; slices.Contains(bad, selector.Sel.Name) || slices.Contains(bad, "*") {
				t.Errorf("%v: %s.%s; a library does not print, exit, read the environment or share randomness",
					positions.Position(selector.Pos()), pkg.Name, selector.Sel.Name)
			}
		}
		return true
	})
}

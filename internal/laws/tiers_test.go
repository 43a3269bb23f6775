package laws

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// source is a type-checked package of ours, without its tests.
type source struct {
	name  string // below the module
	files map[string]*ast.File
	info  *types.Info
}

// checked type-checks packages of ours from source, and what they import from what
// the compiler wrote.
func checked(t *testing.T, positions *token.FileSet, names ...string) map[string]*source {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export"}
	for _, n := range names {
		args = append(args, module+n)
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports, found := map[string]string{}, map[string]*source{}
	type entry struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
	}
	var all []entry
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var e entry
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[e.ImportPath], all = e.Export, append(all, e)
	}
	imports := importer.ForCompiler(positions, "gc", func(path string) (io.ReadCloser,
		error) {
		return os.Open(exports[path])
	})
	for _, e := range all {
		name, ours := strings.CutPrefix(e.ImportPath, module)
		if !ours || !slices.Contains(names, name) {
			continue
		}
		s := &source{name, map[string]*ast.File{}, &types.Info{Uses: map[*ast.Ident]types.Object{}}}
		var files []*ast.File
		for _, f := range e.GoFiles {
			file, err := parser.ParseFile(positions, filepath.Join(e.Dir, f), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			s.files[f] = file
			files = append(files, file)
		}
		if _, err := (&types.Config{Importer: imports}).Check(e.ImportPath, positions, files, s.info); err != nil {
			t.Fatal(err)
		}
		found[name] = s
	}
	return found
}

// mostTrustedLines bounds tier 1, without blanks and comments: a day's reading.
const mostTrustedLines = 2000

// tiers reads the one list of trusted files, in SECURITY.md: each file's tier.
func tiers(t *testing.T) (tier map[string]string, text string) {
	t.Helper()
	document, err := os.ReadFile(filepath.Join("..", "..", "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	tier = map[string]string{}
	for _, name := range []string{"tier1", "tier2", "outside"} {
		_, rest, found := strings.Cut(string(document), "```"+name+"\n")
		list, _, ended := strings.Cut(rest, "\n```")
		if !found || !ended {
			t.Fatalf("SECURITY.md has no list %s", name)
		}
		folder := ""
		for _, word := range strings.Fields(list) {
			if strings.HasSuffix(word, "/") {
				folder = word
				continue
			}
			if file := folder + word + ".go"; tier[file] != "" {
				t.Errorf("SECURITY.md lists %s twice", file)
			} else {
				tier[file] = name
			}
		}
	}
	return tier, string(document)
}

// advice are what tier 1 uses of other files, and why it need not rely on it.
var advice = map[string]string{
	"bestOrder": "suggests an order; the bound is evaluated at it",
	"refusal":   "words an error; nothing is charged whatever it says",
}

// closure lists what of ours a curator is linked with, but for what follows from none
// of it: the replayed tape, and numerical accounting.
func closure(t *testing.T) (names []string) {
	t.Helper()
	all := packages(t)
	for _, dep := range append(all[module+"curator"].Deps, module+"curator") {
		name, ours := strings.CutPrefix(dep, module)
		if !ours || name == "internal/tape" || name == "accountant/pld" {
			continue
		}
		names = append(names, name)
	}
	return names
}

// TestTrustedFilesAreListed: the list in SECURITY.md names each Go file of each package
// that a curator is linked with, and no other.
func TestTrustedFilesAreListed(t *testing.T) {
	tier, text := tiers(t)
	names := closure(t)
	for name, s := range checked(t, token.NewFileSet(), names...) {
		for f, file := range s.files {
			listed := tier[name+"/"+f]
			if f == "doc.go" && len(file.Decls) == 0 {
				continue
			}
			if listed == "" {
				t.Errorf("%s/%s is in no list of SECURITY.md", name, f)
			}
			delete(tier, name+"/"+f)
			for _, spec := range file.Imports {
				p := strings.Trim(spec.Path.Value, "\"")
				if !strings.Contains(strings.Split(p, "/")[0], ".") || strings.HasPrefix(p, module) || listed == "outside" {
					continue
				}
				if short := strings.TrimPrefix(p, "gonum.org/v1/gonum/"); listed == "tier1" ||
					!strings.Contains(text, "`"+short+"`") {
					t.Errorf("%s/%s, %s, rests on %s", name, f, listed, p)
				}
			}
		}
	}
	for file := range tier {
		if _, err := os.Stat(filepath.Join("..", "..", file)); err == nil && strings.Contains(file, "_") {
			continue // for other machines
		}
		t.Errorf("SECURITY.md lists %s, which a curator is not linked with", file)
	}
}

// TestTiersStandAlone: tier 1 uses nothing of ours but tier 1, and tier 2 nothing
// outside the two, so that each could be compiled and read by itself.
func TestTiersStandAlone(t *testing.T) {
	tier, _ := tiers(t)
	names := closure(t)
	positions := token.NewFileSet()
	uses := 0
	for name, s := range checked(t, positions, names...) {
		for f, file := range s.files {
			from := tier[name+"/"+f]
			if from == "outside" {
				continue
			}
			ast.Inspect(file, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok {
					return true
				}
				o := s.info.Uses[id]
				if o == nil || o.Pkg() == nil || !strings.HasPrefix(o.Pkg().Path()+"/", module) {
					return true
				}
				to := tier[strings.TrimPrefix(o.Pkg().Path(), module)+"/"+filepath.Base(positions.Position(o.Pos()).Filename)]
				uses++
				if _, fine := advice[o.Name()]; from == "tier1" && to != "tier1" && !fine ||
					from == "tier2" && to != "tier1" && to != "tier2" && !fine {
					t.Errorf("%v: %s uses %s, which is %s", positions.Position(id.Pos()), from, o.Name(), to)
				}
				return true
			})
		}
	}
	if uses < 3000 {
		t.Errorf("%d uses were looked at", uses)
	}
}

// TestTheCoreIsReadInADay counts tier 1.
func TestTheCoreIsReadInADay(t *testing.T) {
	tier, _ := tiers(t)
	total := 0
	for file, in := range tier {
		if in != "tier1" {
			continue
		}
		text, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if l := strings.TrimSpace(line); l != "" && !strings.HasPrefix(l, "//") {
				total++
			}
		}
	}
	if t.Logf("tier 1 has %d lines", total); total > mostTrustedLines || total < 1000 {
		t.Errorf("tier 1 has %d lines without blanks and comments, at most %d are allowed", total, mostTrustedLines)
	}
}

// TestGrantsAreMadeInTierOne: of the curator, only tier 1 charges a budget or makes a
// grant, so that no mechanism can release what its plan did not pay for.
func TestGrantsAreMadeInTierOne(t *testing.T) {
	tier, _ := tiers(t)
	found := map[string]bool{}
	positions := token.NewFileSet()
	for name, s := range checked(t, positions, "curator", "internal/core/room") {
		for f, file := range s.files {
			ast.Inspect(file, func(n ast.Node) bool {
				what := ""
				switch n := n.(type) {
				case *ast.CompositeLit:
					if id, ok := n.Type.(*ast.Ident); ok && id.Name == "Grant" {
						what = "makes a grant"
					}
				case *ast.SelectorExpr:
					if o := s.info.Uses[n.Sel]; o != nil && slices.Contains([]string{"Charge", "left"}, o.Name()) {
						what = "uses " + o.Name()
					}
				}
				if what == "" {
					return true
				}
				if found[what] = true; tier[name+"/"+f] != "tier1" {
					t.Errorf("%v: %s", positions.Position(n.Pos()), what)
				}
				return true
			})
		}
	}
	if len(found) != 3 {
		t.Errorf("found only %v", found)
	}
}

package laws

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/models"
	"github.com/dpmcmc/dpmcmc/targets"
)

// declarations are the names of a package's exported functions and types.
func declarations(t *testing.T, p listed) (functions, types []string) {
	t.Helper()
	for _, f := range p.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Recv == nil {
					functions = append(functions, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok && s.Name.IsExported() {
						types = append(types, s.Name.Name)
					}
				}
			}
		}
	}
	return functions, types
}

// TestSamplersShareOneVocabulary: a package is a sampler family where New and Cost read
// the same Config. Each exports Config, Kernel, New, Prepare and Cost, no second Config
// and no second New, is known to the rules of imports, and makes a kernel of the registry.
// anchors prepares what others pay for, and ops are no samplers of this library's kind.
func TestSamplersShareOneVocabulary(t *testing.T) {
	all := packages(t)
	families := 0
	for path, p := range all {
		name, ours := strings.CutPrefix(path, module)
		if !ours || strings.Contains(name, "/") {
			continue
		}
		functions, types := declarations(t, p)
		if !slices.Contains(functions, "Cost") || !slices.Contains(types, "Kernel") || name == "anchors" {
			if slices.Contains(samplers, name) {
				t.Errorf("the sampler %s has no Cost, or no Kernel", name)
			}
			continue
		}
		families++
		for _, word := range []string{"New", "Prepare"} {
			if !slices.Contains(functions, word) {
				t.Errorf("%s has no %s", name, word)
			}
		}
		for _, n := range append(functions, types...) {
			if n != "Config" && strings.HasSuffix(n, "Config") || n != "New" && strings.HasPrefix(n, "New") ||
				n != "Kernel" && strings.HasSuffix(n, "Kernel") {
				t.Errorf("%s.%s is a second word for Config, New or Kernel", name, n)
			}
		}
		if !slices.Contains(types, "Config") || !slices.Contains(samplers, name) {
			t.Errorf("%s is a sampler without a Config, or without its rule of imports", name)
		}
		if !slices.Contains(all[module+"chains"].Imports, path) {
			t.Errorf("%s makes no kernel of the registry: package chains does not know it", name)
		}
	}
	if families != len(samplers) {
		t.Errorf("%d sampler families were found, and %v are known", families, samplers)
	}
}

// noModels are configs of package targets that describe no model of their own: what is
// left or released of another target.
var noModels = []string{"RemainderConfig", "TangentConfig"}

// TestEveryTargetIsAModel: each target that package targets can make, and each family of
// regressions, is built by an entry of the registry of models, so that every command has it.
func TestEveryTargetIsAModel(t *testing.T) {
	all := packages(t)
	used := map[string]bool{}
	for _, f := range all[module+"models"].GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(all[module+"models"].Dir, f), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "targets" {
					used[s.Sel.Name] = true
				}
			}
			return true
		})
	}
	made := 0
	_, types := declarations(t, all[module+"targets"])
	for _, name := range types {
		if !strings.HasSuffix(name, "Config") || slices.Contains(noModels, name) {
			continue
		}
		if made++; !used[name] {
			t.Errorf("targets.%s is in no entry of models/registry.go", name)
		}
	}
	_, err := targets.New(targets.RegressionConfig{Family: "?"})
	_, families, ok := strings.Cut(err.Error(), "one of ")
	for _, family := range strings.Split(families, ", ") {
		if made++; !slices.Contains(models.Names(), family) {
			t.Errorf("the family %s of regressions is no model", family)
		}
	}
	if !ok || made < 15 {
		t.Errorf("%d targets were looked at (%v)", made, err)
	}
}

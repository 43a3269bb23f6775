package laws

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpmcmc/dpmcmc/priors"
	"github.com/dpmcmc/dpmcmc/targets"
)

// questions are the methods of targets, and where in the curator they may be called:
// what a target claims in one file, what it says of records in another.
var questions = map[string]string{
	"Dim": "claims.go", "Shape": "claims.go", "LossRange": "certificates.go", "PredictorLipschitz": "certificates.go",
	"GradBound": "certificates.go", "RatioBound": "certificates.go", "LogPrior": "certificates.go",
	"GradLogPrior": "certificates.go",
	"Loss":         "door.go", "LossRatio": "door.go", "LossGrad": "door.go", "LossAt": "door.go", "SlopeAt": "door.go",
}

// TestTargetsAreAskedAtTheDoor: no mechanism speaks to a target itself.
func TestTargetsAreAskedAtTheDoor(t *testing.T) {
	found := map[string]bool{}
	for path, p := range packages(t) {
		if !within(path, module+"curator", module+"internal/core/room") {
			continue
		}
		for _, f := range p.GoFiles {
			positions := token.NewFileSet()
			file, err := parser.ParseFile(positions, filepath.Join(p.Dir, f), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				selector, ok := call.Fun.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				where, asks := questions[selector.Sel.Name]
				asks = asks && (selector.Sel.Name != "Dim" || len(call.Args) == 0) // a mechanism's own Dim has facts
				if found[selector.Sel.Name] = true; asks && f != where {
					t.Errorf("%v: %s is asked here; mechanisms ask through %s", positions.Position(call.Pos()),
						selector.Sel.Name, where)
				}
				return true
			})
		}
	}
	for q := range questions {
		if !found[q] && q != "LossAt" {
			t.Errorf("%s is never asked: the test reads nothing", q)
		}
	}
}

// TestEveryTargetIsOurs: the exported types of package targets that are targets are
// the ones that Ours knows, and that the properties of that package are tested on.
func TestEveryTargetIsOurs(t *testing.T) {
	var names []string
	for _, v := range []targets.Target{
		(*targets.Regression)(nil), (*targets.Linear)(nil), (*targets.Heteroscedastic)(nil), (*targets.Softmax)(nil),
		(*targets.Network)(nil), (*targets.Mixture)(nil), (*targets.GaussianMean)(nil), (*targets.DirichletCategorical)(nil),
	} {
		if !targets.Ours(v) {
			t.Errorf("%T is not known to targets.Ours", v)
		}
		names = append(names, strings.TrimPrefix(fmt.Sprintf("%T", v), "*targets."))
	}
	names = append(names, "Remainder", "Tangent") // as far as what they wrap
	model, err := targets.New(targets.RegressionConfig{Features: 1, Prior: priors.Gaussian{SD: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for ours, base := range map[bool]targets.Target{true: model, false: struct{ *targets.Regression }{model}} {
		r, err := targets.New(targets.RemainderConfig{Target: base, Order: 1})
		if err != nil || targets.Ours(r) != ours {
			t.Errorf("the remainder of %T is ours: %v (%v)", base, !ours, err)
		}
		tangent, err := targets.New(targets.TangentConfig{Target: base.(targets.GradTarget), Weight: 0.5, Radius: 0})
		if err != nil || targets.Ours(tangent) != ours {
			t.Errorf("the tangent of %T is ours: %v (%v)", base, !ours, err)
		}
	}
	positions := token.NewFileSet()
	for path, p := range packages(t) {
		if path != module+"targets" {
			continue
		}
		for _, f := range p.GoFiles {
			file, err := parser.ParseFile(positions, filepath.Join(p.Dir, f), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				method, ok := d.(*ast.FuncDecl)
				if !ok || method.Recv == nil || method.Name.Name != "Loss" {
					continue
				}
				star, ok := method.Recv.List[0].Type.(*ast.StarExpr)
				if !ok {
					continue
				}
				name := star.X.(*ast.Ident).Name
				if ast.IsExported(name) && !slices.Contains(names, name) {
					t.Errorf("targets.%s is a target that this test and targets.Ours do not know", name)
				}
			}
		}
	}
}

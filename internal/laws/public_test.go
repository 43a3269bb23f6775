package laws

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// internalAliases are exported names that stand for internal types, so that a user can
// name what a function takes or returns.
var internalAliases = []string{"chains.SettingError", "models.SettingError", "ops.Source", "targets.ConvexLoss",
	"targets.Rows"}

// TestNothingPublicHasAnInternalArgument: no exported function, method, field or type
// of a public package mentions a type of an internal one, which nobody else can name.
func TestNothingPublicHasAnInternalArgument(t *testing.T) {
	seen := 0
	for path := range packages(t) {
		name, ours := strings.CutPrefix(path, module)
		if !ours || within(name, "cmd", "examples", "internal") || strings.Contains(name, "/internal/") {
			continue
		}
		files, err := filepath.Glob(filepath.Join("../..", name, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				seen += checkPublic(t, name, file)
			}
		}
	}
	if seen < 500 {
		t.Errorf("only %d exported declarations were looked at", seen)
	}
}

// checkPublic looks at the exported declarations of a file and counts them.
func checkPublic(t *testing.T, pkg, file string) (seen int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	hidden := map[string]bool{}
	for _, i := range f.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		if rest, ours := strings.CutPrefix(path, module); ours &&
			(within(rest, "internal") || strings.Contains(rest, "/internal/")) {
			name := path[strings.LastIndex(path, "/")+1:]
			if i.Name != nil {
				name = i.Name.Name
			}
			hidden[name] = true
		}
	}
	mentions := func(what string, node ast.Node) {
		seen++
		if node == nil {
			return
		}
		ast.Inspect(node, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if x, isName := sel(s, ok); isName && hidden[x] && !slices.Contains(internalAliases, pkg+"."+what) {
				t.Errorf("%s: %s.%s mentions %s.%s, which only this library can name", file, pkg, what, x, s.Sel.Name)
			}
			return true
		})
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || exportedReceiver(d.Recv)) {
				mentions(d.Name.Name, d.Type)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok && s.Name.IsExported() {
					mentions(s.Name.Name, publicPart(s.Type))
				}
			}
		}
	}
	return seen
}

func sel(s *ast.SelectorExpr, ok bool) (string, bool) {
	if !ok {
		return "", false
	}
	x, isName := s.X.(*ast.Ident)
	if !isName {
		return "", false
	}
	return x.Name, true
}

// exportedReceiver reports whether a method belongs to an exported type.
func exportedReceiver(recv *ast.FieldList) bool {
	typ := recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if generic, ok := typ.(*ast.IndexExpr); ok {
		typ = generic.X
	}
	name, ok := typ.(*ast.Ident)
	return ok && name.IsExported()
}

// publicPart is a type without the unexported fields of a struct.
func publicPart(typ ast.Expr) ast.Node {
	s, ok := typ.(*ast.StructType)
	if !ok {
		return typ
	}
	public := &ast.FieldList{}
	for _, f := range s.Fields.List {
		for _, n := range f.Names {
			if n.IsExported() {
				public.List = append(public.List, &ast.Field{Type: f.Type})
				break
			}
		}
	}
	return public
}

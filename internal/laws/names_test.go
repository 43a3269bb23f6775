package laws

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
)

// mostNames bounds what a package exports: constants, variables, functions and types,
// without methods and fields. They were 46 in curator, 56 in targets and 51 in accountant.
var mostNames = map[string]int{"accountant": 33, "curator": 32, "targets": 37}

// TestFewNames: the three packages that everything rests on stay narrow. A further name
// replaces another, or is worth its line in mostNames.
func TestFewNames(t *testing.T) {
	all := packages(t)
	for name, most := range mostNames {
		p := all[module+name]
		var names []string
		for _, f := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				names = append(names, exportedNames(d)...)
			}
		}
		if len(names) > most {
			t.Errorf("%s exports %d names, at most %d are allowed: %v", name, len(names), most, names)
		}
		if len(names) < most {
			t.Errorf("%s exports %d names: lower mostNames from %d", name, len(names), most)
		}
	}
}

// exportedNames are those that a declaration adds to its package.
func exportedNames(d ast.Decl) (names []string) {
	add := func(ids ...*ast.Ident) {
		for _, id := range ids {
			if id.IsExported() {
				names = append(names, id.Name)
			}
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			add(d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				add(s.Name)
			case *ast.ValueSpec:
				add(s.Names...)
			}
		}
	}
	return names
}

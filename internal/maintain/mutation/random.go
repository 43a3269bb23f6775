package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// coreTests are the packages whose tests should notice a mutant of the trusted core,
// by its folder.
var coreTests = map[string][]string{
	"accountant":                 {"./accountant"},
	"accountant/internal/normal": {"./accountant/internal/normal", "./accountant"},
	"internal/core/dense":        {"./internal/core/dense", "./curator"},
	"internal/core/noise":        {"./internal/core/noise", "./curator"},
	"internal/core/record":       {"./internal/core/record", "./curator"},
	"internal/core/room":         {"./internal/core/room", "./curator"},
}

// randomMutants draws n mutants of the files that SECURITY.md lists as tier 1, with a
// seed: the first n of all, in random order.
func randomMutants(root string, n int, seed uint64) ([]defect, error) {
	document, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	if err != nil {
		return nil, err
	}
	_, list, _ := strings.Cut(string(document), "```tier1\n")
	list, _, _ = strings.Cut(list, "```")
	var all []defect
	folder := ""
	for _, word := range strings.Fields(list) {
		if strings.HasSuffix(word, "/") {
			folder = word
			continue
		}
		found, err := mutantsOf(root, folder+word+".go")
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b defect) int { return bytes.Compare(a.lot(seed), b.lot(seed)) })
	fmt.Printf("%d of %d mutants, seed %d\n", min(n, len(all)), len(all), seed)
	return all[:min(n, len(all))], nil
}

// lot orders mutants at random. A change of other lines leaves the order as it is.
func (d defect) lot(seed uint64) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %q %q %q", seed, d.file, d.within, d.old, d.new))
	return sum[:]
}

// swaps are the operators that mutants exchange.
var swaps = map[token.Token]string{
	token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*", token.LSS: "<=", token.LEQ: "<", token.GTR: ">=",
	token.GEQ: ">", token.EQL: "!=", token.NEQ: "==", token.LAND: "||", token.LOR: "&&", token.SHL: ">>",
	token.SHR: "<<", token.AND: "|", token.OR: "&", token.REM: "/",
}

// mutantsOf lists every mutant of a file: an operator exchanged, a condition negated, a
// number one larger, a statement left out.
func mutantsOf(root, file string) (all []defect, err error) {
	positions := token.NewFileSet()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return nil, err
	}
	tree, err := parser.ParseFile(positions, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(text), "\n")
	// Of 1 and −1, of which only the sign counts.
	signs := make(map[ast.Node]bool)
	// The conditions of a switch run where it begins, whichever case is taken.
	evaluated := make(map[ast.Expr]int)
	add := func(from, to token.Pos, replace string) {
		a, b := positions.Position(from).Offset, positions.Position(to).Offset
		line := positions.Position(from).Line
		runs := line
		for e, l := range evaluated {
			if e.Pos() <= from && to <= e.End() {
				runs = l
			}
		}
		all = append(all, defect{file: file, old: string(text[a:b]), new: replace, at: a, line: line, runs: runs,
			within: strings.TrimSpace(lines[line-1]), tests: coreTests[filepath.Dir(file)]})
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.SwitchStmt:
			for _, s := range n.Body.List {
				for _, e := range s.(*ast.CaseClause).List {
					evaluated[e] = positions.Position(n.Pos()).Line
				}
			}
		case *ast.BinaryExpr:
			if other, ok := swaps[n.Op]; ok {
				add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other)
			}
		case *ast.IfStmt:
			add(n.Cond.Pos(), n.Cond.End(),
				"!("+string(text[positions.Position(n.Cond.Pos()).Offset:positions.Position(n.Cond.End()).Offset])+")")
		case *ast.CallExpr:
			if l := signOf(n); l != nil {
				signs[l] = true
			}
		case *ast.BasicLit:
			if signs[n] {
				return true
			}
			if n.Kind == token.INT || n.Kind == token.FLOAT {
				add(n.Pos(), n.End(), "("+n.Value+"+1)")
			}
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt:
			add(n.Pos(), n.End(), "")
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				add(n.Pos(), n.End(), "")
			}
		}
		return true
	})
	name(all, text)
	return all, nil
}

// signOf is the 1 that a call of Inf or IsInf has as a sign, or nil.
func signOf(call *ast.CallExpr) *ast.BasicLit {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !strings.HasSuffix(f.Sel.Name, "Inf") || len(call.Args) == 0 {
		return nil
	}
	sign := call.Args[len(call.Args)-1]
	if minus, ok := sign.(*ast.UnaryExpr); ok {
		sign = minus.X
	}
	if l, ok := sign.(*ast.BasicLit); ok && l.Value == "1" {
		return l
	}
	return nil
}

// name calls each mutant by its line's text and its place there, so that changes elsewhere
// in the file leave it known.
func name(all []defect, text []byte) {
	seen := make(map[string]int)
	for i := range all {
		d := &all[i]
		column := d.at - bytes.LastIndexByte(text[:d.at], '\n')
		d.name = fmt.Sprintf("%s %q %d %q %q", d.file, d.within, column, oneLine(d.old), oneLine(d.new))
		if seen[d.name]++; seen[d.name] > 1 {
			d.name += fmt.Sprintf(" (%d)", seen[d.name])
		}
	}
}

// explanation is why a mutant does no harm, if it is known.
func (d defect) explanation() (defect, bool) {
	i := slices.IndexFunc(explained, func(e defect) bool {
		return e.file == d.file && e.old == d.within && (e.new == anything || e.new == d.new)
	})
	if i < 0 || !d.random() {
		return defect{}, false
	}
	return explained[i], true
}

// random reports whether it is not of the list.
func (d defect) random() bool { return d.within != "" }

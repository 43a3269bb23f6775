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

	"gonum.org/v1/gonum/stat/distuv"
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
		case *ast.BasicLit:
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
	return all, nil
}

// clopperPearson is the two-sided 95% interval of a share.
func clopperPearson(caught, total int) (low, high float64) {
	low, high = 0, 1
	k, n := float64(caught), float64(total)
	if caught > 0 {
		low = distuv.Beta{Alpha: k, Beta: n - k + 1}.Quantile(0.025)
	}
	if caught < total {
		high = distuv.Beta{Alpha: k + 1, Beta: n - k}.Quantile(0.975)
	}
	return low, high
}

const (
	onlySign  = "only the sign of what Inf or IsInf is given counts"
	anyBase   = "keys are compared only, and numbers differ in any base"
	anything  = "anything" // whatever is put there
	tailLater = "the tail that is left out begins later still"
)

// explained are mutants that do no harm, by file, line text and what is put there.
var explained = []defect{
	{file: "accountant/guarantee.go", old: "if pureEps := e.RDP(math.Inf(1)); pureEps < eps {",
		new: "(1+1)", equivalent: onlySign},
	{file: "accountant/guarantee.go", old: "if pureEps := e.RDP(math.Inf(1)); pureEps < eps {", new: "<=",
		equivalent: "of equal bounds, another is named"},
	{file: "accountant/guarantee.go", old: "const lowestOrder = 1 + 1.0/(1<<14)", new: anything,
		equivalent: "the bound at whichever order is tried holds"},
	{file: "accountant/guarantee.go", new: anything,
		old:        "func(order, rdp float64) float64 { return rdp + conversionCost(order, 0) })",
		equivalent: "it says when to stop looking for orders; the bound at whichever is found holds"},
	{file: "accountant/guarantee.go", old: "order, eps, rdp = math.Inf(1), pureEps, pureEps", new: "(1+1)",
		equivalent: onlySign},
	{file: "accountant/event.go", old: "b = strconv.AppendFloat(b, v, 'g', -1, 64)", new: "(1+1)",
		equivalent: "any negative precision is the shortest that is exact"},
	{file: "accountant/bounded.go", old: "return h * (a/2 - h*(p2/180-h*(p3/2835-h*p4/37800)))", new: "(37800+1)",
		equivalent: "less than the last bit of the price"},
	{file: "accountant/gaussian_exact.go", old: "for range 200 {", new: "(200+1)",
		equivalent: "steps that stay at the root"},
	{file: "accountant/gaussian_exact.go", old: "if a > 1 {", new: ">=", equivalent: "both forms hold there"},
	{file: "accountant/gaussian_exact.go", old: "hi := mu*mu/2 + mu*math.Sqrt(-2*logDelta) // zCDP's bound", new: "*",
		some: true, equivalent: "steps come down from any point above"},
	{file: "internal/core/record/record.go", old: "touch(x[lo*p:], s.x, p, part)", new: "",
		equivalent: "rows are only not fetched ahead"},
	{file: "internal/core/record/record.go", old: "touch(x[lo*p:], s.narrow, p, part)", new: "",
		equivalent: "rows are only not fetched ahead"},
	{file: "accountant/guarantee.go", old: "c.value, c.order = e.RDP(math.Inf(1)), math.Inf(1)", new: "(1+1)",
		equivalent: onlySign},
	{file: "accountant/guarantee.go", old: "case delta > 0:", new: ">=", equivalent: "δ = 0 is a case before it"},
	{file: "accountant/budget.go", old: "if !(order > 1) || math.IsInf(order, 1) {", new: "(1+1)", some: true,
		equivalent: onlySign},
	{file: "accountant/convert.go", old: "if math.IsInf(order, 1) {", new: "(1+1)", equivalent: onlySign},
	{file: "accountant/internal/normal/normal.go", old: "for k := 40.0; k >= 1; k-- {", new: "(40.0+1)",
		equivalent: "the fraction's 41st term is below rounding"},
	{file: "accountant/internal/normal/normal.go", old: "if y < root {", new: "<=", equivalent: "both forms hold there"},
	{file: "accountant/gaussian_exact.go", old: "if mu < 0.5 {", new: "(0.5+1)",
		equivalent: "quadrature is the closer of the two forms there too, and they agree to 10⁻¹⁰"},
	{file: "accountant/curve.go", old: "const manyParts = 256", new: "(256+1)",
		equivalent: "slack covers the rounding of 256 parts too"},
	{file: "internal/core/record/record.go", old: "if p == 0 || x == nil {", new: "!=",
		equivalent: "rows are only not fetched ahead"},
	{file: "internal/core/record/record.go", old: "for j := 0; j < len(row); j += 8 {", new: "(0+1)",
		equivalent: "rows are only not fetched ahead"},
	{file: "internal/core/noise/source.go", new: "",
		old:        `panic(fmt.Sprintf("noise: HKDF cannot give 32 bytes: %v", err))`,
		equivalent: "HKDF gives up to 255 times as many bytes"},
	{file: "accountant/exact.go", old: "return 0, false", new: "(0+1)", equivalent: "what is not known is not read"},
	{file: "accountant/event.go", old: "if sum < 0 {", new: "(0+1)", equivalent: "counts are at least 1"},
	{file: "internal/core/dense/dense.go", old: "a, b, c, e := x[:d], x[d : 2*d][:d], x[2*d : 3*d][:d], x[3*d : 4*d][:d]",
		new: "(2+1)", some: true,
		equivalent: "rows are cut to [:d] again, so the first end may lie further on"},
	{file: "internal/core/dense/dense.go", old: "a, b, c, e := x[:d], x[d : 2*d][:d], x[2*d : 3*d][:d], x[3*d : 4*d][:d]",
		new: "(3+1)", some: true,
		equivalent: "rows are cut to [:d] again, so the first end may lie further on"},
	{file: "internal/core/noise/expneg.go", old: "guard := r + 2*uint(bits.Len(prec+r)) + 16", new: "(16+1)",
		equivalent: "one bit more of what is rounded off"},
	{file: "internal/core/room/pass.go", old: "p.theta, p.next, p.index = nil, nil, nil",
		equivalent: "the next pass sets them anew"},
	{file: "internal/core/room/pool.go", old: "defer func() { p.do = nil }()", new: "",
		equivalent: "the next pass sets it anew"},
	{file: "internal/core/room/claims.go", old: "if has {", new: "!(has)", equivalent: "the words of a refusal"},
	{file: "accountant/guarantee.go", old: "if c.value < best.value {", new: "<=",
		equivalent: "of equal bounds, another is named"},
	{file: "internal/core/record/project.go", old: "factor := inside / norm * (1 - 2*unit)", new: "(2+1)",
		equivalent: "each pass gains a unit more, which changes the last bit of a row that is projected"},
	{file: "internal/core/noise/gaussian.go", old: "case height+1+g.slack <= d:", new: "-", some: true,
		equivalent: "of the 1: density is within 5 units, so a margin of 7 decides as one of 9 does"},
	{file: "internal/core/noise/gaussian.go", old: "if height >= c.upper {", new: ">",
		equivalent: "a point at the bound is decided exactly, and lies above"},
	{file: "internal/core/noise/gaussian.go", old: "if gap.Cmp(three) >= 0 {", new: "(0+1)",
		equivalent: "a gap of just three is decided with 64 bits more"},
	{file: "internal/core/noise/gaussian.go", old: "maxTail = 1 << 16", new: "(16+1)",
		equivalent: tailLater},
	{file: "internal/core/noise/gaussian.go", old: "maxTail = 1 << 16", new: "(1+1)", equivalent: tailLater},
	{file: "accountant/guarantee.go", old: "return min(0, value)", new: "(0+1)",
		equivalent: "ε is set to 0 there afterwards"},
	{file: "accountant/event.go", old: "b = strconv.AppendInt(b, v, 10)", new: "(10+1)", equivalent: anyBase},
	{file: "accountant/event.go", old: `keys[i] = strconv.FormatInt(p.count, 10) + "*" + p.key`, new: "(10+1)",
		equivalent: anyBase},
	{file: "internal/core/room/claims.go", old: "s.ratio, _ = t.(ratioTarget)", new: "",
		equivalent: "losses are asked for at either end in place of ratios"},
	{file: "accountant/gaussian.go", old: "if !(x >= 0) || math.IsInf(x, 1) {", new: "(1+1)", equivalent: onlySign},
	{file: "accountant/bounded.go", old: "case h <= 0.25:", new: "(0.25+1)",
		equivalent: "8 points are as exact on lengths of 1.25, the poles being π away"},
	{file: "accountant/event.go", old: "var room [64]byte", new: "(64+1)",
		equivalent: "where a key is built; it grows if need be"},
	{file: "internal/core/room/pool.go", old: "const BlockRows = 512", new: "(512+1)",
		equivalent: "integer sums do not depend on blocks"},
	{file: "internal/core/room/pool.go", old: "if blocks*BlockRows < ParallelRows {", new: anything,
		equivalent: "integer sums do not depend on who adds them"},
	{file: "internal/core/record/project.go", old: "if Norm(row) <= inside || !tame(row) {", new: "<",
		equivalent: "a row at the edge is left as it is either way"},
	{file: "internal/core/record/project.go", old: "for norm := Norm(row); norm > inside; norm = Norm(row) {",
		new: ">=", equivalent: "a row at the edge is brought in by a hair more"},
	{file: "internal/core/record/project.go", old: "largest := 0.0", new: "(0.0+1)",
		equivalent: "only sizes above 10¹⁵⁰ count"},
	{file: "accountant/gaussian_exact.go", old: "if !(next < hi*(1-1e-13)) {", new: "(1+1)",
		equivalent: "200 steps are made, which stay at the root"},
	{file: "accountant/gaussian_exact.go", old: "if !(next < hi*(1-1e-13)) {", new: "<=",
		equivalent: "a step more, which stays at the root"},
	{file: "internal/core/noise/expneg.go", old: "for k := uint64(6); k > 0; k-- {", new: "(6+1)",
		equivalent: "a term more of the series"},
	{file: "accountant/bounded.go", old: "return min(eps, order*s*s/8, s)", new: "*",
		equivalent: "eps is below αs²/8 but for rounding"},
	{file: "internal/core/room/release.go", old: "dst[j] = float64(s+normal.Sample(g.secret)) * step * factor", new: "-",
		equivalent: "the noise is symmetric"},
	{file: "accountant/bounded.go", old: "if x < 0.05 {", new: "<=", equivalent: "both forms hold there"},
	{file: "internal/core/room/vectors.go", old: "if length > p.shorten {", new: ">=", equivalent: "a factor of 1 there"},
	{file: "accountant/curve.go", old: "clear(c.values)", equivalent: "a memory that grows answers the same"},
	{file: "accountant/gaussian_exact.go", old: "if !(next < hi*(1-1e-13)) {", new: "+",
		equivalent: "all 200 steps are taken, and stay at the root"},
}

// explanation is why a mutant does no harm, if it is known.
func (d defect) explanation() (defect, bool) {
	i := slices.IndexFunc(explained, func(e defect) bool {
		return e.file == d.file && e.old == d.within && (e.new == anything || e.new == d.new)
	})
	if i < 0 || d.line == 0 {
		return defect{}, false
	}
	return explained[i], true
}

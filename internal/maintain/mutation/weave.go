package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// chosen is the environment variable that names the defect which a woven binary has.
const chosen = "MUTATION"

// weave puts the defects that lie within a function into the sources at root, all at once:
// each as a copy of its function, called in its place when the environment chooses its
// number. So tests are compiled once for all of them. It numbers those defects, from 1, and
// marks those that do not compile. restore puts the sources back.
func weave(root string, all []defect) (restore func() error, err error) {
	original := make(map[string][]byte)
	restore = func() error {
		for path, text := range original {
			if err := os.WriteFile(path, text, 0o644); err != nil {
				return err
			}
			if err := os.RemoveAll(choice(path)); err != nil {
				return err
			}
		}
		return nil
	}
	byFile := make(map[string][]*defect)
	for i := range all {
		byFile[all[i].file] = append(byFile[all[i].file], &all[i])
	}
	number := 0
	for file, defects := range byFile {
		path := filepath.Join(root, file)
		if original[path], err = os.ReadFile(path); err != nil {
			return restore, err
		}
		for _, d := range defects {
			if d.at >= 0 {
				number++
				d.number = number
			}
		}
	}
	for len(all) > 0 {
		var folders []string
		places := make(map[string][]span)
		for file, defects := range byFile {
			path := filepath.Join(root, file)
			text, name, spans, err := woven(original[path], defects)
			if err != nil {
				return restore, err
			}
			if err := os.WriteFile(path, text, 0o644); err != nil {
				return restore, err
			}
			if err := os.WriteFile(choice(path), fmt.Appendf(nil, choosing, name, chosen), 0o644); err != nil {
				return restore, err
			}
			places[file] = spans
			if folder := "./" + filepath.Dir(file); !slices.Contains(folders, folder) {
				folders = append(folders, folder)
			}
		}
		build := exec.Command("go", append([]string{"build", "-trimpath", "-gcflags=-e"}, folders...)...)
		build.Dir = root
		out, err := build.CombinedOutput()
		if err == nil {
			return restore, nil
		}
		if !refused(out, places) {
			return restore, fmt.Errorf("defects together: %w:\n%s", err, out)
		}
	}
	return restore, nil // there are none
}

// choice is the file of a package that reads which defect is chosen.
func choice(path string) string { return filepath.Join(filepath.Dir(path), "mutation__.go") }

const choosing = `package %s

import (
	"os"
	"strconv"
)

var mutation__, _ = strconv.Atoi(os.Getenv(%q))
`

// span is the lines of a copied function with a defect.
type span struct {
	from, to int
	defect   *defect
}

// woven is a file with the defects in it that lie within functions and have not been found
// not to compile. Other defects lose their number. Lines of the file stay where they are.
func woven(text []byte, defects []*defect) (out []byte, name string, spans []span, err error) {
	positions := token.NewFileSet()
	tree, err := parser.ParseFile(positions, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, "", nil, err
	}
	offset := func(p token.Pos) int { return positions.Position(p).Offset }
	var edits []edit
	var copies bytes.Buffer
	lines := 1 + bytes.Count(text, []byte("\n"))
	held := make(map[*defect]bool)
	for _, declared := range tree.Decls {
		f, ok := declared.(*ast.FuncDecl)
		if !ok || f.Body == nil || f.Name.Name == "init" || f.Name.Name == "_" {
			continue
		}
		var cases strings.Builder
		call := newForwarder(f, offset)
		from, to := offset(f.Pos()), offset(f.End())
		for _, d := range defects {
			if d.number == 0 || d.at <= offset(f.Body.Lbrace) || d.at+len(d.old) > to-1 {
				continue
			}
			held[d] = true
			if d.broken {
				continue
			}
			copied := apply(text[from:to], from, []edit{
				{offset(f.Name.Pos()), offset(f.Name.End()), fmt.Sprintf("%s__%d", f.Name.Name, d.number)},
				{d.at, d.at + len(d.old), d.new}})
			fmt.Fprintf(&copies, "\n%s\n", copied)
			spans = append(spans, span{lines + 1, lines + 1 + bytes.Count(copied, []byte("\n")), d})
			lines += 2 + bytes.Count(copied, []byte("\n"))
			fmt.Fprintf(&cases, "case %d: %s; ", d.number, call.to(d.number))
		}
		if cases.Len() > 0 {
			edits = append(edits, call.names...)
			at := offset(f.Body.Lbrace) + 1
			edits = append(edits, edit{at, at, "switch mutation__ { " + cases.String() + "};"})
		}
	}
	for _, d := range defects {
		if !held[d] {
			d.number = 0
		}
	}
	return append(apply(text, 0, edits), copies.Bytes()...), tree.Name.Name, spans, nil
}

// edit puts text in the place of a range of bytes.
type edit struct {
	from, to int
	text     string
}

// apply makes edits that do not overlap in a text that begins at an offset.
func apply(text []byte, begins int, edits []edit) (out []byte) {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	at := begins
	for _, e := range edits {
		out = append(append(out, text[at-begins:e.from-begins]...), e.text...)
		at = e.to
	}
	return append(out, text[at-begins:]...)
}

// forwarder writes the call of a function's copy with the function's own arguments.
type forwarder struct {
	before, after string // the number
	names         []edit // of arguments that have none
}

func newForwarder(f *ast.FuncDecl, offset func(token.Pos) int) (w forwarder) {
	named := func(list *ast.FieldList, prefix string) (all []string) {
		for i, field := range list.List {
			if len(field.Names) == 0 {
				name := fmt.Sprintf("%s%d__", prefix, i)
				at := offset(field.Type.Pos())
				w.names = append(w.names, edit{at, at, name + " "})
				all = append(all, name)
			}
			for j, n := range field.Names {
				name := n.Name
				if name == "_" {
					name = fmt.Sprintf("%s%d_%d__", prefix, i, j)
					w.names = append(w.names, edit{offset(n.Pos()), offset(n.End()), name})
				}
				all = append(all, name)
			}
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				all[len(all)-1] += "..."
			}
		}
		return all
	}
	w.before = f.Name.Name + "__"
	if f.Recv != nil {
		w.before = named(f.Recv, "receiver")[0] + "." + w.before
	}
	if f.Type.TypeParams != nil {
		w.after = "[" + strings.Join(named(f.Type.TypeParams, "type"), ", ") + "]"
	}
	w.after += "(" + strings.Join(named(f.Type.Params, "argument"), ", ") + ")"
	if f.Type.Results != nil {
		w.before = "return " + w.before
	} else {
		w.after += "; return"
	}
	return w
}

func (w forwarder) to(number int) string { return w.before + strconv.Itoa(number) + w.after }

// refusal is what the compiler says of a line.
var refusal = regexp.MustCompile(`(?m)^(?:\./)?([^\s:]+\.go):(\d+):\d+: `)

// refused marks the defects that the compiler's errors lie in, and reports whether there are any.
func refused(out []byte, places map[string][]span) (found bool) {
	for _, m := range refusal.FindAllSubmatch(out, -1) {
		line, _ := strconv.Atoi(string(m[2]))
		for _, s := range places[string(m[1])] {
			if s.from <= line && line <= s.to {
				s.defect.broken, found = true, true
			}
		}
	}
	return found
}

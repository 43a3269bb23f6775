package laws

import (
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	codeSpan   = regexp.MustCompile("`([^`\n]+)`")
	qualified  = regexp.MustCompile(`^[A-Za-z]\w*(\.[A-Za-z]\w*)*(\(\))?$`)
	identifier = regexp.MustCompile(`[A-Za-z_]\w*`)
)

// TestProofsNameTheirCode: what a proof calls by a name in code, the code calls so too.
func TestProofsNameTheirCode(t *testing.T) {
	known := map[string]bool{}
	for path, p := range packages(t) {
		if !strings.HasPrefix(path+"/", module) {
			continue
		}
		files, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range identifier.FindAllString(string(text), -1) {
				known[name] = true
			}
		}
	}
	proofs, err := filepath.Glob(filepath.Join("..", "..", "docs", "proofs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, p := range proofs {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, span := range codeSpan.FindAllStringSubmatch(string(text), -1) {
			if !qualified.MatchString(span[1]) {
				continue
			}
			for _, name := range identifier.FindAllString(span[1], -1) {
				if checked++; !known[name] {
					t.Errorf("%s: `%s`: no code is called %s", p, span[1], name)
				}
			}
		}
	}
	if checked < 300 {
		t.Errorf("only %d names were looked up", checked)
	}
}

// proofOf and codeOf read what a trusted file says of its proof, and a proof of its code.
var (
	proofOf = regexp.MustCompile(`(?m)^// Proof: (.*)\.$`)
	codeOf  = regexp.MustCompile("(?ms)^Code: (.*?)\n\n")
	page    = regexp.MustCompile(`docs/proofs/([a-z-]+\.md)`)
	inCode  = regexp.MustCompile("`([a-z/]+/)`|[a-z0-9_]+")
)

// proofs lists the pages, and for each the files that its line "Code" names.
func proofs(t *testing.T) map[string][]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", "docs", "proofs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string][]string{}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		named[filepath.Base(p)] = nil
		folder := ""
		if m := codeOf.FindSubmatch(text); m != nil && strings.HasPrefix(string(m[1]), "`") {
			for _, word := range inCode.FindAllStringSubmatch(string(m[1]), -1) {
				if word[1] != "" {
					folder = word[1]
				} else if folder != "" {
					named[filepath.Base(p)] = append(named[filepath.Base(p)], folder+word[0]+".go")
				}
			}
		}
	}
	return named
}

// TestTrustedFilesNameTheirProofs: every file of either tier names its proofs, and each of
// these names the file. No proof names another file so.
func TestTrustedFilesNameTheirProofs(t *testing.T) {
	tier, _ := tiers(t)
	named := proofs(t)
	for file, of := range tier {
		if of == "outside" {
			continue
		}
		text, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Error(err)
			continue
		}
		line := proofOf.FindSubmatch(text)
		if line == nil {
			t.Errorf("%s, %s, names no proof: give it a line \"// Proof: docs/proofs/….md.\"", file, of)
			continue
		}
		for _, p := range page.FindAllSubmatch(line[1], -1) {
			at := slices.Index(named[string(p[1])], file)
			if at < 0 {
				t.Errorf("%s names %s, whose line \"Code\" does not name it", file, p[1])
				continue
			}
			named[string(p[1])] = slices.Delete(named[string(p[1])], at, at+1)
		}
	}
	for p, files := range named {
		for _, f := range files {
			t.Errorf("%s names %s, which is not trusted or does not name it", p, f)
		}
	}
}

// TestProofsListEveryMechanism: the table of docs/proofs lists every mechanism of package
// curator, that is, every type with an Event on Facts, with the one file that has its Event and
// builds its grant, and with a proof of that file and of each file of its price.
func TestProofsListEveryMechanism(t *testing.T) {
	document, err := os.ReadFile(filepath.Join("..", "..", "docs", "proofs", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for line := range strings.Lines(string(document)) {
		if cells := strings.Split(line, "|"); len(cells) == 7 && strings.HasPrefix(line, "| `") {
			rows[strings.Trim(cells[1], " `")] = cells
		}
	}
	named := proofs(t)
	positions := token.NewFileSet()
	curator := checked(t, positions, "curator")["curator"]
	declared := map[string][]string{} // where each mechanism's Event and prepare are
	for name, file := range curator.files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if m := mechanismOf(f); m != "" {
				declared[m] = append(declared[m], "curator/"+name)
			}
		}
	}
	for m, files := range declared {
		cells, ok := rows[m]
		if !ok {
			t.Errorf("docs/proofs/README.md does not list %s", m)
			continue
		}
		delete(rows, m)
		file := strings.Trim(cells[3], " `")
		if len(files) < 2 || slices.ContainsFunc(files, func(f string) bool { return f != file }) {
			t.Errorf("%s: its Event and its prepare are in %v, the table says %s", m, files, file)
		}
		proof := regexp.MustCompile(`\]\(([a-z-]+\.md)\)`).FindStringSubmatch(cells[5])
		if proof == nil || !slices.Contains(named[proof[1]], file) {
			t.Errorf("%s: the table's proof is %s, whose line \"Code\" does not name %s", m, cells[5], file)
		}
		for price := range strings.SplitSeq(cells[4], ",") {
			price, proved := "accountant/"+strings.TrimSpace(price)+".go", false
			for _, files := range named {
				proved = proved || slices.Contains(files, price)
			}
			if !proved {
				t.Errorf("%s: no proof names its price %s", m, price)
			}
		}
	}
	for m := range rows {
		t.Errorf("docs/proofs/README.md lists %s, which is no mechanism of package curator", m)
	}
	if len(declared) < 7 {
		t.Errorf("only %d mechanisms were found", len(declared))
	}
}

// mechanismOf names the mechanism whose Event or prepare a function is.
func mechanismOf(f *ast.FuncDecl) string {
	typeName := func(e ast.Expr) string {
		if id, ok := e.(*ast.Ident); ok {
			return id.Name
		}
		return ""
	}
	if f.Recv == nil || f.Name.Name != "Event" && f.Name.Name != "prepare" || len(f.Type.Params.List) == 0 ||
		typeName(f.Type.Params.List[0].Type) != "Facts" {
		return ""
	}
	return typeName(f.Recv.List[0].Type)
}

// TestDocumentsCiteTheoryByItsNumbers: each number that code or a document cites of theory.md is
// there.
func TestDocumentsCiteTheoryByItsNumbers(t *testing.T) {
	document, err := os.ReadFile(filepath.Join("..", "..", "docs", "theory.md"))
	if err != nil {
		t.Fatal(err)
	}
	cites := regexp.MustCompile(`theory(?:\.md)?\)?,? \(?(?:section )?§?((?:[0-9]\.[0-9]+(?:(?:,| and| to) §?)?)+)`)
	number := regexp.MustCompile(`[0-9]\.[0-9]+`)
	cited := 0
	walk(t, func(name, text string) {
		for _, m := range cites.FindAllStringSubmatch(text, -1) {
			for _, n := range number.FindAllString(m[1], -1) {
				if cited++; !strings.Contains(string(document), "\n"+n+" ") {
					t.Errorf("%s cites theory %s, which docs/theory.md does not have", name, n)
				}
			}
		}
	})
	if cited < 60 {
		t.Errorf("only %d citations were found", cited)
	}
}

// walk shows the text of every Go file and document of the repository.
func walk(t *testing.T, see func(name, text string)) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && e.Name() == ".git" {
			return filepath.SkipDir
		}
		if ext := filepath.Ext(path); ext != ".go" && ext != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			see(path, string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

package chains

import (
	"slices"
	"strings"
	"testing"
)

// TestTableNamesKernels: what an entry names as its kernels are kernels, each once, and
// the entry has a place in Settings of its own.
func TestTableNamesKernels(t *testing.T) {
	places := map[any]string{}
	var s Settings
	for _, v := range table {
		if other, taken := places[v.at(&s)]; taken {
			t.Errorf("%s and %s are the same field", v.Name, other)
		}
		places[v.at(&s)] = v.Name
		if v.of == everything {
			continue
		}
		named := strings.Fields(v.of)
		for i, k := range named {
			if _, there := families[k]; !there || slices.Contains(named[:i], k) {
				t.Errorf("%s is of %q, which is no kernel or is named twice", v.Name, k)
			}
		}
	}
}

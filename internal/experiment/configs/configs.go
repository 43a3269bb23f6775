// Package configs holds bundled experiments, and schemas of public data sets.
package configs

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Prefix begins the names of bundled files.
const Prefix = "bundled:"

//go:embed experiments/*.toml schemas/*.toml
var files embed.FS

// Default is the experiment that dpmcmc compare runs without a configuration.
const Default = "logistic"

// Experiment returns the text of a bundled experiment.
func Experiment(name string) ([]byte, error) { return read("experiments", name) }

// Schema returns the text of a bundled schema.
func Schema(name string) ([]byte, error) { return read("schemas", name) }

// Experiments lists the bundled experiments.
func Experiments() []string { return names("experiments") }

// Schemas lists the bundled schemas.
func Schemas() []string { return names("schemas") }

func read(folder, name string) ([]byte, error) {
	text, err := files.ReadFile(path.Join(folder, name+".toml"))
	if err != nil {
		return nil, fmt.Errorf("there is nothing bundled under %q; the bundled %s are %s", name, folder,
			strings.Join(names(folder), ", "))
	}
	return text, nil
}

func names(folder string) (list []string) {
	entries, err := fs.ReadDir(files, folder)
	if err != nil {
		panic("configs: " + err.Error()) // the folder is part of the program
	}
	for _, e := range entries {
		list = append(list, strings.TrimSuffix(e.Name(), ".toml"))
	}
	return list
}

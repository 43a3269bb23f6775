package chains

import "github.com/dpmcmc/dpmcmc/internal/setting"

// SettingError says what is wrong with a setting, what is allowed, and what to
// do. It depends on public facts alone.
type SettingError = setting.Error

// name is a setting's name in a message, and names are several.
type (
	name  = setting.Name
	names = setting.Names
)

// bad is a SettingError about the setting.
func bad(setting name, format string, args ...any) error {
	return settingError("chains", setting, format, args...)
}

var settingError = setting.Bad

package dispatch

import (
	"slices"
	"strings"

	"rea/generated/fault"
	"rea/generated/tool"
)

// ToolsetsSetting names the environment variable that chooses families.
const ToolsetsSetting = "REA_MCP_TOOLSETS"

// alwaysShown is the family without which no target can be opened.
const alwaysShown = "session"

// ParseToolsets reads a list of families, separated by commas. An empty list
// and "all" mean all of them, which is nil. The session family is always
// included. An unknown family is a configuration_invalid fault; setting names
// where the value came from.
func ParseToolsets(setting, value string) ([]string, error) {
	known := tool.FamilyNames()
	families := []string{alwaysShown}
	for _, name := range strings.Split(value, ",") {
		name = strings.TrimSpace(name)
		switch {
		case name == "":
		case name == "all":
			return nil, nil
		case !slices.Contains(known, name):
			return nil, fault.ConfigurationInvalid(fault.ConfigurationInvalidDetails{
				Name: setting, Value: value, Expected: "a list of families out of " + strings.Join(known, ", ") + ", or all",
			}, nil)
		case !slices.Contains(families, name):
			families = append(families, name)
		}
	}
	if strings.Trim(value, ", \t") == "" {
		return nil, nil
	}
	slices.Sort(families)
	return families, nil
}

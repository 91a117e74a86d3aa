package inventory

import (
	"path"
	"strings"
)

// roleOf names what an entry is for by its name, where formats give names a
// meaning. Names are claims: nothing is concluded from a role.
func roleOf(raw string) string {
	dir, base := path.Split(raw)
	dir = strings.TrimSuffix(strings.TrimPrefix(dir, "./"), "/")
	lower := strings.ToLower(base)
	parent := path.Base(dir)
	switch lower {
	case "androidmanifest.xml", "appxmanifest.xml", "appxblockmap.xml", "bundleconfig.pb", "manifest.mf", "info.plist", "package.json",
		"[content_types].xml", "extension.vsixmanifest", "install.rdf", "distribution", "packageinfo", "pkginfo", ".pkginfo", ".buildinfo", ".mtree":
		return "manifest"
	case "coderesources", "\x05digitalsignature", "\x05msidigitalsignatureex", "appxsignature.p7x", ".signature.p7s", "_gpgorigin", "_gpgbuilder", "embedded.mobileprovision", "verified_contents.json", "appxbundlemanifest.p7x":
		return "signature"
	case "manifest.json":
		if dir == "" || parent == "META-INF" {
			return "manifest"
		}
	case "control", "md5sums", "conffiles", "debian-binary":
		if dir == "" {
			return "manifest"
		}
	case "metadata", "record", "wheel":
		if strings.HasSuffix(parent, ".dist-info") {
			return "manifest"
		}
	}
	ext := path.Ext(lower)
	if parent == "META-INF" || strings.EqualFold(parent, "meta-inf") {
		switch ext {
		case ".rsa", ".dsa", ".ec":
			return "signature"
		case ".sf":
			return "manifest"
		}
	}
	switch ext {
	case ".nuspec":
		return "manifest"
	case ".sig", ".asc", ".p7s", ".p7b", ".cat", ".psdsxs":
		return "signature"
	}
	switch {
	case parent == "_xmlsignatures" && ext == ".xml", strings.HasSuffix(parent, ".dist-info") && lower == "record.jws":
		return "signature"
	}
	return ""
}

// bundleExtensions are directories that macOS shows as one thing.
var bundleExtensions = []string{".app", ".framework", ".bundle", ".appex", ".xpc", ".kext", ".plugin", ".dsym"}

func isBundle(raw string) bool {
	ext := strings.ToLower(path.Ext(strings.TrimSuffix(raw, "/")))
	for _, e := range bundleExtensions {
		if ext == e {
			return true
		}
	}
	return false
}

// family names the package format of a container by the names in it.
func family(format string, names func(yield func(raw string) bool)) string {
	if format == "directory" || format == "hfsplus" {
		return format
	}
	has := map[string]bool{}
	prefixes := map[string]bool{}
	suffixes := map[string]bool{}
	var first string
	for raw := range names {
		if first == "" {
			first = raw
		}
		name := strings.TrimPrefix(raw, "./")
		if !strings.Contains(name, "/") || strings.HasPrefix(name, "META-INF/") || strings.HasPrefix(name, "_rels/") || strings.HasPrefix(name, "base/") {
			has[name] = true
		}
		if top, rest, ok := strings.Cut(name, "/"); ok {
			prefixes[top] = true
			switch {
			case top == "Payload" && strings.Contains(rest, ".app/"):
				suffixes["Payload.app"] = true
			case strings.HasSuffix(top, ".dist-info") && rest == "WHEEL":
				suffixes["WHEEL"] = true
			case strings.HasSuffix(top, ".app") && strings.HasPrefix(rest, "Contents/"):
				suffixes["app"] = true
			}
		} else if strings.HasSuffix(strings.ToLower(name), ".nuspec") {
			suffixes["nuspec"] = true
		}
	}
	switch format {
	case "ar":
		if first == "debian-binary" {
			return "deb"
		}
		return format
	case "xar":
		if has["Distribution"] || has["PackageInfo"] || has["Payload"] {
			return "pkg"
		}
		return format
	case "zip", "crx", "jmod":
	default:
		return format
	}
	switch {
	case has["BundleConfig.pb"]:
		return "aab"
	case has["AndroidManifest.xml"] && (has["classes.dex"] || has["resources.arsc"] || has["META-INF/MANIFEST.MF"]):
		return "apk"
	case has["AndroidManifest.xml"] && has["classes.jar"]:
		return "aar"
	case suffixes["Payload.app"]:
		return "ipa"
	case has["AppxManifest.xml"] || has["AppxMetadata"] || prefixes["AppxMetadata"]:
		return "msix"
	case has["extension.vsixmanifest"]:
		return "vsix"
	case suffixes["nuspec"]:
		return "nupkg"
	case suffixes["WHEEL"]:
		return "whl"
	case has["[Content_Types].xml"] && prefixes["word"]:
		return "docx"
	case has["[Content_Types].xml"] && prefixes["xl"]:
		return "xlsx"
	case has["[Content_Types].xml"] && prefixes["ppt"]:
		return "pptx"
	case has["mimetype"] && has["META-INF/container.xml"]:
		return "epub"
	case has["mimetype"] && has["META-INF/manifest.xml"]:
		return "opendocument"
	case has["install.rdf"] || has["META-INF/mozilla.rsa"] || has["META-INF/cose.manifest"]:
		return "xpi"
	case format == "crx", format == "jmod":
		return format
	case has["META-INF/MANIFEST.MF"]:
		return "jar"
	}
	return format
}

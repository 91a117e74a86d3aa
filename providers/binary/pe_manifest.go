package binary

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"

	"rea/generated/tool"
	"rea/providers/format/peresources"
)

// manifests reads the side-by-side manifests.
func (r *resources) manifests() {
	const most = 64
	for _, res := range r.of(peresources.Manifest) {
		if len(r.out.Manifests) == most {
			r.note("manifests: the first %d are given", most)
			return
		}
		row := tool.InspectPeResourcesOutputManifest{Name: clean(res.Name.String()), Language: int64(res.Language)}
		text := bytes.TrimPrefix(res.Data, []byte("\xef\xbb\xbf"))
		if err := readManifest(&row, text); err != nil {
			r.note("manifest %s: %v", res.Name, err)
		}
		if len(text) > maxManifest {
			r.note("manifest %s: the first %d of %d bytes are given", res.Name, maxManifest, len(text))
			text = text[:maxManifest]
		}
		row.Text = clean(string(text))
		r.out.Manifests = append(r.out.Manifests, row)
	}
}

// readManifest takes what one asks a manifest for out of its elements.
func readManifest(row *tool.InspectPeResourcesOutputManifest, text []byte) error {
	dec := xml.NewDecoder(bytes.NewReader(text))
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	var path []string
	for {
		t, err := dec.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if path = append(path, t.Name.Local); len(path) > 100 {
				return nil
			}
			manifestElement(row, path, t.Attr)
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			if n := len(path); n > 0 && (path[n-1] == "dpiAware" || path[n-1] == "dpiAwareness") && strings.TrimSpace(string(t)) != "" {
				row.DpiAwareness = optional(clean(strings.TrimSpace(string(t))))
			}
		}
	}
}

func manifestElement(row *tool.InspectPeResourcesOutputManifest, path []string, attributes []xml.Attr) {
	get := func(name string) *string {
		for _, a := range attributes {
			if strings.EqualFold(a.Name.Local, name) {
				return optional(clean(a.Value))
			}
		}
		return nil
	}
	const most = 100
	switch path[len(path)-1] {
	case "assemblyIdentity":
		dependent := false
		for _, p := range path {
			dependent = dependent || p == "dependentAssembly"
		}
		if name := get("name"); dependent && name != nil && len(row.Dependencies) < most {
			row.Dependencies = append(row.Dependencies, *name)
		} else if !dependent && row.Identity == nil {
			row.Identity, row.Version = name, get("version")
		}
	case "requestedExecutionLevel":
		row.ExecutionLevel = get("level")
		if v := get("uiAccess"); v != nil {
			yes := strings.EqualFold(*v, "true")
			row.UiAccess = &yes
		}
	case "supportedOS":
		if id := get("Id"); id != nil && len(row.SupportedOS) < most {
			row.SupportedOS = append(row.SupportedOS, osName(*id))
		}
	}
}

// osName names the versions of Windows that manifests know by identifiers.
func osName(id string) string {
	names := map[string]string{
		"{e2011457-1546-43c5-a5fe-008deee3d3f0}": "Windows Vista", "{35138b9a-5d96-4fbd-8e2d-a2440225f93a}": "Windows 7",
		"{4a2f28e3-53b9-4441-ba9c-d69d4a4a6e38}": "Windows 8", "{1f676c76-80e1-4239-95bb-83d0f6d0da78}": "Windows 8.1",
		"{8e0f7a12-bfb3-4fe8-b9a5-48fd50a15a9a}": "Windows 10",
	}
	if n := names[strings.ToLower(id)]; n != "" {
		return n
	}
	return id
}

// languageTag names the common Windows languages.
func languageTag(id uint32) *string {
	tags := map[uint32]string{
		0: "neutral", 0x400: "default", 0x800: "system default", 0x401: "ar-SA", 0x402: "bg-BG", 0x404: "zh-TW", 0x405: "cs-CZ", 0x406: "da-DK",
		0x407: "de-DE", 0x408: "el-GR", 0x409: "en-US", 0x40a: "es-ES", 0x40b: "fi-FI", 0x40c: "fr-FR", 0x40d: "he-IL", 0x40e: "hu-HU",
		0x410: "it-IT", 0x411: "ja-JP", 0x412: "ko-KR", 0x413: "nl-NL", 0x414: "nb-NO", 0x415: "pl-PL", 0x416: "pt-BR", 0x418: "ro-RO",
		0x419: "ru-RU", 0x41a: "hr-HR", 0x41b: "sk-SK", 0x41d: "sv-SE", 0x41e: "th-TH", 0x41f: "tr-TR", 0x422: "uk-UA", 0x424: "sl-SI",
		0x425: "et-EE", 0x426: "lv-LV", 0x427: "lt-LT", 0x42a: "vi-VN", 0x804: "zh-CN", 0x807: "de-CH", 0x809: "en-GB", 0x80a: "es-MX",
		0x80c: "fr-BE", 0x816: "pt-PT", 0xc07: "de-AT", 0xc09: "en-AU", 0xc0a: "es-ES", 0xc0c: "fr-CA", 0x1009: "en-CA", 0x100c: "fr-CH",
	}
	return optional(tags[id])
}

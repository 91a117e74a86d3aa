package application

import (
	"strings"
	"testing"

	"rea/providers/javascript/parse"
)

func TestBannersNameLibraries(t *testing.T) {
	for text, want := range map[string]string{
		"/*! jQuery v3.7.1 | (c) OpenJS Foundation and other contributors | jquery.org/license */":                                              "jQuery 3.7.1 ",
		"/*!\n * jQuery JavaScript Library v3.7.1\n * https://jquery.com/\n * Released under the MIT license\n */":                              "jQuery 3.7.1 MIT",
		"/**\n * @license\n * Lodash <https://lodash.com/>\n * Released under MIT license\n * Based on Underscore.js 1.8.3 <http://x>\n */":     "Lodash  MIT",
		"/** @license Lodash\n * Based on Underscore.js 1.8.3\n * Released under MIT license */":                                                "Lodash  MIT",
		"//! moment.js\n//! version : 2.30.1\n//! authors : Tim Wood\n//! license : MIT\n//! momentjs.com":                                      "moment 2.30.1 MIT",
		"//! version : 2.29.4\n//! license : MIT":                                                                                               "  MIT",
		"/**\n * @license React\n * react-dom.production.min.js\n *\n * Copyright (c) Facebook, Inc.\n * licensed under the MIT license\n */":   "react-dom  MIT",
		"/**\n* vue v3.5.13\n* (c) 2018-present Yuxi (Evan) You and Vue contributors\n* @license MIT\n**/":                                      "vue 3.5.13 MIT",
		"/**!\n\n @license\n handlebars v4.7.8\n\nCopyright (C) 2011-2019 by Yehuda Katz\n*/":                                                   "handlebars 4.7.8 ",
		"/*!\n * express\n * Copyright(c) 2009-2013 TJ Holowaychuk\n * MIT Licensed\n */":                                                       "express  MIT",
		"/*!\n  * Bootstrap v5.3.3 (https://getbootstrap.com/)\n  * Licensed under MIT (https://x)\n  */":                                       "Bootstrap 5.3.3 MIT",
		"/*! @license DOMPurify 3.2.3 | (c) Cure53 | Released under the Apache license 2.0 and Mozilla Public License 2.0 */":                   "DOMPurify 3.2.3 Apache license 2.0",
		"/**\n * @license\n * Copyright 2010-2024 Three.js Authors\n * SPDX-License-Identifier: MIT\n */":                                       "  MIT",
		"/*! *****************\nCopyright (c) Microsoft Corporation.\nLicensed under the Apache License, Version 2.0 (the \"License\")\n*** */": "  Apache License, Version 2.0",
		"/*! For license information please see main.js.LICENSE.txt */":                                                                         "  ",
		"/*! tiny-lib v1.2.3 | MIT */":                                                                "tiny-lib 1.2.3 MIT",
		"/*! @scope/tiny@1.2.3-beta.1 */":                                                             "@scope/tiny 1.2.3-beta.1 ",
		"// https://d3js.org v7.9.0 Copyright 2010-2023 M. B.":                                        "d3js.org 7.9.0 ",
		"/*!\n * Chart.js v4.4.7\n * https://www.chartjs.org\n * Released under the MIT License\n */": "Chart 4.4.7 MIT",
		"/* eslint-disable no-var */":                                                                 "  ",
		"// see section 4.2 of the licence":                                                           "  ",
	} {
		f, err := parse.Parse(t.Context(), text+"\nf()", parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := "  "
		if list := banners(f); len(list) > 0 {
			got = strings.Join([]string{list[0].name, list[0].version, list[0].licence}, " ")
		}
		if got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
}

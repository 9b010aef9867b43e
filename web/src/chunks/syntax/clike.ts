// Of the many languages of this mode those that are shown.

export { c, cpp, csharp, dart, java, kotlin, objectiveC, scala } from "@codemirror/legacy-modes/mode/clike";

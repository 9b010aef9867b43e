import type { Messages } from "../en.ts";
import type { Format } from "../format.ts";

export const upload = (f: Format): Messages["upload"] => ({
  title: "上传",
  dropHere: "松开鼠标，添加文件和文件夹",
  drop: "将文件和文件夹拖到这里",
  formats: "Markdown、文本、源代码、HTML、笔记本、数据、PDF、Word、PowerPoint、Excel",
  files: "选择文件", folder: "选择文件夹",
  collection: "集合", collectionExample: "handbook", collectionHint: "已有的集合或新名称。", isNew: "将新建集合。", needsCollection: "请输入集合名称。",
  prefix: "id 前缀", prefixHint: "加在每个路径之前。路径即 id：相同 id 的文件会被替换。",
  preset: "预设", presetHint: "新集合的切分方式。", serverPreset: "按服务器配置",
  start: "上传", stop: "停止", clear: "清空列表",
  send: (n) => `上传 ${f.number(n)} 个文件`,
  again: (n) => `重试 ${f.number(n)} 个`,
  open: (name) => `打开 ${name}`,
  progress: "已上传的文件",
  done: (n, total) => `${f.number(n)} / ${f.number(total)} 个文件`,
  over: "所有文件均已持久存储。",
  overSome: (n) => `${f.number(n)} 个文件未能存储。`,
  which: "显示哪些文件", all: "全部", none: "没有处于此状态的文件。", list: "文件",
  states: { waiting: "等待", sending: "上传中", stored: "已存储", unchanged: "未变", failed: "失败", skipped: "已跳过" },
  hiddenFile: "隐藏文件：文件名或所在文件夹以点开头",
  remove: (name) => `从列表移除 ${name}`,
});

import type { Messages } from "../en.ts";
import type { Format } from "../format.ts";

export const log = (f: Format): Messages["log"] => ({
  title: "查询日志",
  local: "仅保存在此服务器",
  off: "日志未开启",
  offText: "日志显示用户的查询和智能体的工具调用，以及哪些查询没有结果。内容只保存在此服务器。启动服务器时加上：",
  empty: "还没有查询",
  emptyText: "一旦有人搜索，查询和工具调用就会出现在这里。",
  noMatch: "没有符合筛选条件的记录。",
  kind: "类型", everyKind: "所有类型",
  kinds: { search: "搜索", fetch: "读取", outline: "大纲", status: "状态", index: "索引" },
  doors: { http: "HTTP", mcp: "智能体" },
  zeroOnly: "无结果",
  at: "时间", door: "来源", query: "查询", hits: "结果数", relevance: "相关度", took: "耗时",
  noHits: "无",
  missed: "没有结果的查询",
  times: (n) => `${f.number(n)} 次`,
  fresh: (n) => `显示 ${f.number(n)} 条新记录`,
  clear: "清空日志", clearTitle: "清空日志？", clearText: "将删除全部记录，无法撤销。", cleared: "日志已清空。",
});

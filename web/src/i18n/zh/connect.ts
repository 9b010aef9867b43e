import type { Messages } from "../en.ts";

export const connect = (): Messages["connect"] => ({
  title: "连接智能体",
  note: "通过 Model Context Protocol",
  client: "客户端",
  way: "连接方式",
  ways: { address: "通过地址", command: "通过命令" },
  ways_text: {
    address: "客户端访问此服务器，搜索其中已索引的内容。",
    command: "客户端在文档所在的机器上启动自己的服务器，并索引项目文件夹。",
  },
  key: "此服务器需要密钥。请将密钥写入客户端的环境变量 `CHUNKWRIGHT_API_KEY`，或在客户端提示处或 `YOUR_KEY` 处填写。",
  run: "运行此命令",
  merge: "将以下内容合并到文件",
  orMerge: "或将以下内容合并到文件",
  rules: "让智能体先搜索，再使用 grep",
  rulesText: "智能体会遵循项目中的这些文件。请添加它们，或合并到已有的文件中。",
  copyAddress: "复制地址",
  copyRun: "复制命令",
  copyFile: (name: string) => `复制 ${name}`,
});

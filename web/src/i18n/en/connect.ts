export const connect = () => ({
  title: "Connect an agent",
  note: "over the Model Context Protocol",
  client: "Client",
  way: "How it is connected",
  ways: { address: "By address", command: "By command" },
  ways_text: {
    address: "The client asks this server, and finds what it has indexed.",
    command:
      "The client starts a server of its own on the machine of the documents, and indexes the folder of the project.",
  },
  key: "This server asks for a key. Put it into the variable `CHUNKWRIGHT_API_KEY` of the client's environment, or enter it where the client or `YOUR_KEY` asks for it.",
  run: "Run this",
  merge: "Merge this into the file",
  orMerge: "Or merge this into the file",
  rules: "Let the agent search before it greps",
  rulesText: "Agents follow these files of the project. Add them, or merge them into those that are there.",
  copyAddress: "Copy the address",
  copyRun: "Copy the command",
  copyFile: (name: string) => `Copy ${name}`,
});

// Ends the process on a Node that is too old: the first import of the command and of the build. An old Node can parse
// it. Keep in sync with `engines` of package.json.
const [MAJOR, MINOR] = [20, 19]
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < MAJOR || (major === MAJOR && minor < MINOR)) {
  process.stderr.write(`orch-apiserver: needs Node ${MAJOR}.${MINOR} or newer, this is ${process.versions.node}\n`)
  process.exit(1)
}

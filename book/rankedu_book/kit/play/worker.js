/* What follows Brython in the worker: the modules that can be imported, and the program that answers the page. */
self.XMLHttpRequest = class { // there is nothing to fetch: a module that is not in the library does not exist
  open() {}
  send() { this.status = 404; }
};
__BRYTHON__.use_VFS = true;
__BRYTHON__.VFS = LIBRARY;
__BRYTHON__.runPythonSource(PROGRAM, "play");
self.onmessage = ({ data }) => self.postMessage(self.answer(data.code, JSON.stringify(data.earlier), data.exercise));
self.postMessage("ready");

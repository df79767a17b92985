/* The end of `engine.js`: a worker that has Python and waits, the same one until it is stopped. */
(() => {
  const LIMIT = 5000; // milliseconds that a reader's code may take
  let starting, worker;

  const start = async () => {
    worker = new Worker(URL.createObjectURL(new Blob([window.play.worker], { type: "text/javascript" })));
    await new Promise((done) => (worker.onmessage = done));
  };

  /* Run code: the verdict, and what was said. What takes too long is stopped, with its worker. */
  window.play.run = async (message) => {
    await (starting ??= start());
    return new Promise((done) => {
      const end = (verdict, text) => {
        clearTimeout(clock);
        window.play.stop = () => {};
        done([verdict, text]);
      };
      window.play.stop = (why = "Stopped.") => {
        worker.terminate();
        starting = undefined;
        end("stopped", why);
      };
      const clock = setTimeout(() => window.play.stop("Stopped after 5 seconds: does a loop never end?"), LIMIT);
      worker.onmessage = ({ data }) => end(data.slice(0, data.indexOf("\n")), data.slice(data.indexOf("\n") + 1));
      worker.postMessage(message);
    });
  };
  window.play.stop = () => {};

  /* A new line is indented as the one before it, and the key that deletes takes a whole step, by touch as well. */
  document.addEventListener("beforeinput", (event) => {
    const code = event.target;
    if (!code.matches(".code-box textarea")) return;
    const line = code.value.slice(0, code.selectionStart).split("\n").pop();
    let [text, back] = ["", 0];
    if (event.inputType === "insertLineBreak") {
      text = `\n${line.match(/^ */)[0]}${line.trimEnd().endsWith(":") ? "    " : ""}`;
    } else if (event.inputType === "deleteContentBackward" && /^( {4})+$/.test(line)) {
      back = code.selectionStart === code.selectionEnd ? 4 : 0;
    }
    if (!text && !back) return;
    event.preventDefault();
    code.setRangeText(text, code.selectionStart - back, code.selectionEnd, "end");
    code.rows = Math.max(code.rows, code.value.split("\n").length + 1);
    code.oninput();
  });
  starting = start();
})();

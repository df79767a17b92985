export default {
  render({ model, el }) {
    el.innerHTML = model.get("inside");
    const figure = el.firstElementChild;
    const answers = new Map();
    let number = 0;
    model.on("msg:custom", (said) => {
      const [done, failed] = answers.get(said.number) ?? [];
      answers.delete(said.number);
      if (said.error) failed?.(new Error(said.error));
      else done?.(said.scene);
    });
    rankeduLive(figure, (state) => new Promise((done, failed) => {
      number += 1;
      answers.set(number, [done, failed]);
      model.send({ number, state });
    }));
  },
};
